package io.kvasir.simulator.compare;

/**
 * A case in which routers were compared.
 *
 * <p>Immutable.
 *
 * @param setting the case
 * @param speed factor by which arrivals were faster than recorded
 * @param reachedShare utilisation under the reference router at this speed
 */
public record PlayedLoad(Setting setting, double speed, double reachedShare) {}
