/** The gateway, put together from its parts. Needs fleet and exchange, and no engine. */
@NullMarked
package io.kvasir.gateway;

import org.jspecify.annotations.NullMarked;
