package io.kvasir.simulator.replay;

import io.kvasir.serve.ServeReason;
import java.util.Map;

/**
 * What the layer above the instances did in a replay.
 *
 * <p>Immutable.
 *
 * @param settings the layer
 * @param decisions how many choices of an instance had which reason
 */
public record ServeResult(ServeSettings settings, Map<ServeReason, Long> decisions) {}
