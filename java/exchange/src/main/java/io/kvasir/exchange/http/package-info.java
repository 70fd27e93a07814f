/**
 * HTTP behind the ports of {@code io.kvasir.exchange}: Vert.x serves clients, Netty calls engines.
 */
@NullMarked
package io.kvasir.exchange.http;

import org.jspecify.annotations.NullMarked;
