package io.kvasir.simulator.fleet;

import io.kvasir.fleet.router.whatif.WhatIfCounts;
import java.util.List;
import java.util.Map;

/**
 * Decisions of the fleet layer in a replay.
 *
 * <p>Immutable.
 *
 * @param settings the workers and their router
 * @param decisions number of decisions by reason, in a fixed order
 * @param behindPrompts decisions for a worker that was still computing another prompt
 * @param whatIf the results of the router and others on virtual ranks, the router first; empty if
 *     no others were asked
 */
public record FleetResult(
    FleetSettings settings,
    Map<String, Long> decisions,
    long behindPrompts,
    List<WhatIfCounts> whatIf) {}
