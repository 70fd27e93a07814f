package io.kvasir.benchmarks.proxy;

/**
 * One round: all servers, measured one right after the other. Immutable.
 *
 * @param direct the engine without a proxy
 * @param nginx nginx before the engine
 * @param gateway the gateway before the engine
 */
public record ProxyRound(ServerFigures direct, ServerFigures nginx, ServerFigures gateway) {}
