package io.kvasir.simulator.replay;

import io.kvasir.fleet.router.LatencyTargets;
import org.jspecify.annotations.Nullable;

/**
 * What a replay measures besides its usual figures.
 *
 * <p>Immutable.
 *
 * @param objective the limits that good requests keep; null to count none
 * @param reuseCurve whether to find the hit rate for other sizes of the pools
 * @param firstTokens whether to keep the time to first token of each request
 */
public record Measures(@Nullable Objective objective, boolean reuseCurve, boolean firstTokens) {

  /** Nothing else. */
  public static final Measures NONE = new Measures(null, false, false);

  /** The limits as a fleet router receives them: {@return the times that every request asks for} */
  LatencyTargets targets() {
    return objective == null
        ? LatencyTargets.NONE
        : new LatencyTargets(objective.ttftMs(), objective.tpotMs());
  }
}
