package io.kvasir.simulator.compare;

/**
 * A load at which ADP routers were compared.
 *
 * <p>Immutable.
 *
 * @param workload what was asked
 * @param load how busy the worker was kept
 * @param poolTokens tokens of each rank's pool
 * @param speed how many times faster than recorded the requests came
 * @param roundRobinShare the utilisation that round-robin has at this speed
 */
public record PlayedLoad(
    String workload, Load load, int poolTokens, double speed, double roundRobinShare) {}
