package io.kvasir.simulator.fleet;

import java.util.Map;

/**
 * The choices of the fleet layer in a replay.
 *
 * <p>Immutable.
 *
 * @param workers number of workers
 * @param router the router's name
 * @param args the router's settings
 * @param followsBlocks whether the router used block events
 * @param eventDelayNs virtual time from a change of a worker's blocks to its event at the router
 * @param decisions number of choices by reason, in a fixed order
 * @param behindPrompts choices of a worker that still computed another prompt
 */
public record FleetResult(
    int workers,
    String router,
    Map<String, Object> args,
    boolean followsBlocks,
    long eventDelayNs,
    Map<String, Long> decisions,
    long behindPrompts) {}
