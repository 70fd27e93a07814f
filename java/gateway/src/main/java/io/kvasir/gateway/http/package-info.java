/** HTTP by Vert.x behind the ports of {@code io.kvasir.gateway.exchange}. */
@NullMarked
package io.kvasir.gateway.http;

import org.jspecify.annotations.NullMarked;
