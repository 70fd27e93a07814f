/**
 * HTTP behind the ports of {@code io.kvasir.gateway.exchange}: Vert.x serves clients, Netty calls
 * engines.
 */
@NullMarked
package io.kvasir.gateway.http;

import org.jspecify.annotations.NullMarked;
