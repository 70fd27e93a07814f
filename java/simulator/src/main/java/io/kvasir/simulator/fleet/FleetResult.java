package io.kvasir.simulator.fleet;

import java.util.Map;

/**
 * The choices of the fleet layer in a replay.
 *
 * <p>Immutable.
 *
 * @param settings the workers and their router
 * @param decisions number of choices by reason, in a fixed order
 * @param behindPrompts choices of a worker that still computed another prompt
 */
public record FleetResult(
    FleetSettings settings, Map<String, Long> decisions, long behindPrompts) {}
