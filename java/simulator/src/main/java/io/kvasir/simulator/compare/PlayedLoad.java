package io.kvasir.simulator.compare;

/**
 * A case in which routers were compared.
 *
 * <p>Immutable.
 *
 * @param setting the case
 * @param speed factor by which arrivals were faster than recorded; 1 for a closed loop
 * @param reachedShare utilisation under the reference router at this speed; not a number for a
 *     closed loop
 */
public record PlayedLoad(Setting setting, double speed, double reachedShare) {}
