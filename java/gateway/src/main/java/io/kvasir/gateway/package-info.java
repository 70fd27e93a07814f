/** The gateway and the stand-alone engine, put together from their parts. */
@NullMarked
package io.kvasir.gateway;

import org.jspecify.annotations.NullMarked;
