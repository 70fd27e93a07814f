/**
 * Lock-step over TCP. {@link io.kvasir.tcp.TcpProcesses} are what a launcher has started; {@link
 * io.kvasir.tcp.TcpCoordinator} and {@link io.kvasir.tcp.TcpMember} are the two ends of a group. A
 * {@code FrameChannel} carries frames in the clear or encrypted.
 *
 * <p>Members authenticate each other before they join; docs/lockstep.md describes what the
 * connections promise. The package treats frames as opaque and does not depend on routers or
 * executors.
 *
 * <p>Tests: {@code TcpCollectiveTest} runs the contract of every collective, {@code TcpJoinTest}
 * has joining and its failures, {@code EncryptedTcpTest} both over TLS, {@code TcpFuzzTest} peers
 * that send damaged frames.
 */
@NullMarked
package io.kvasir.tcp;

import org.jspecify.annotations.NullMarked;
