package io.kvasir.simulator.compare;

/**
 * A load at which routers were compared.
 *
 * <p>Immutable.
 *
 * @param workload the name of the workload
 * @param load the target load
 * @param poolTokens tokens of each rank's pool
 * @param speed factor by which arrivals were faster than recorded
 * @param roundRobinShare utilisation under round-robin at this speed
 */
public record PlayedLoad(
    String workload, Load load, int poolTokens, double speed, double roundRobinShare) {}
