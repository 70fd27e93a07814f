package io.kvasir.simulator.fleet;

import java.util.Map;

/**
 * Decisions of the fleet layer in a replay.
 *
 * <p>Immutable.
 *
 * @param settings the workers and their router
 * @param decisions number of decisions by reason, in a fixed order
 * @param behindPrompts decisions for a worker that was still computing another prompt
 */
public record FleetResult(
    FleetSettings settings, Map<String, Long> decisions, long behindPrompts) {}
