/**
 * Compares the gateway with nginx as a proxy before the same engine.
 *
 * <p>The engine and the load generator are C programs in {@code tests/gateway/bench}, which {@link
 * io.kvasir.benchmarks.proxy.BenchPrograms} compiles. {@link io.kvasir.benchmarks.proxy.ProxyBench}
 * starts engine, nginx and gateway on 127.0.0.1. {@link io.kvasir.benchmarks.proxy.ProxyRounds}
 * measures them in turn, and {@link io.kvasir.benchmarks.proxy.GatewayMemory} looks at the
 * gateway's memory.
 */
@NullMarked
package io.kvasir.benchmarks.proxy;

import org.jspecify.annotations.NullMarked;
