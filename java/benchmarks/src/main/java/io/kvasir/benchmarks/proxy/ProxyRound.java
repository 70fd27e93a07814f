package io.kvasir.benchmarks.proxy;

import org.jspecify.annotations.Nullable;

/**
 * One round: all servers, measured one right after the other. Immutable.
 *
 * @param direct the engine without a proxy
 * @param nginx nginx before the engine
 * @param gateway the gateway before the engine
 * @param matching the gateway before the engine, matching blocks of prompts whose tokens it has;
 *     null if that was not measured
 * @param newPrompts the same, asking the engine for the tokens of each prompt
 * @param twoLegs the gateway in front of two engines, where one computes the prompt and the other
 *     answers; null if that was not measured
 */
public record ProxyRound(
    ServerFigures direct,
    ServerFigures nginx,
    ServerFigures gateway,
    @Nullable ServerFigures matching,
    @Nullable ServerFigures newPrompts,
    @Nullable ServerFigures twoLegs) {}
