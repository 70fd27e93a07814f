/**
 * The receiving side of ZMTP 3.0, ZeroMQ's protocol, for peers that are not trusted: SUB and DEALER
 * sockets over NIO, with the mechanism NULL. A message, a connection and all connections together
 * have bounds, and what is not read yet waits at the peer.
 *
 * <p>{@code ZmtpLoop} owns the selector, {@code ZmtpSocket} an endpoint. Both are confined to one
 * thread. The package does not know what messages mean. Source: ZeroMQ RFC 23.
 */
@NullMarked
package io.kvasir.gateway.zmtp;

import org.jspecify.annotations.NullMarked;
