package io.kvasir.simulator.compare;

import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ServeResult;
import io.kvasir.simulator.selection.SelectorKind;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What one selector made of one load. Times are modelled milliseconds.
 *
 * <p>Immutable.
 *
 * @param selector who chose
 * @param ttftP50Ms first token, median
 * @param ttftP95Ms first token, 95 % are not later
 * @param itlP50Ms time between tokens, median
 * @param itlP95Ms time between tokens, 95 % are not longer
 * @param behindPrompts share of the requests that were placed where another prompt was still
 *     computed
 * @param tokenHitRate share of prompt tokens that came from cache
 * @param routedCv how unevenly requests were spread over the instances
 * @param routedMaxOverMin requests of the busiest instance over those of the least busy one
 */
public record Selected(
    SelectorKind selector,
    Estimate ttftP50Ms,
    Estimate ttftP95Ms,
    Estimate itlP50Ms,
    Estimate itlP95Ms,
    Estimate behindPrompts,
    Estimate tokenHitRate,
    Estimate routedCv,
    Estimate routedMaxOverMin) {

  static Selected of(SelectorKind selector, List<ReplayResult> results) {
    return new Selected(
        selector,
        estimate(results, result -> result.ttft().p50Ms()),
        estimate(results, result -> result.ttft().p95Ms()),
        estimate(results, result -> result.itl().p50Ms()),
        estimate(results, result -> result.itl().p95Ms()),
        estimate(results, Selected::behindPrompts),
        estimate(results, ReplayResult::tokenHitRate),
        estimate(results, ReplayResult::routedCv),
        estimate(results, ReplayResult::routedMaxOverMin));
  }

  private static double behindPrompts(ReplayResult result) {
    return (double) result.serve().decisions(ServeResult.BEHIND_PROMPTS) / result.requests();
  }

  private static Estimate estimate(
      List<ReplayResult> results, ToDoubleFunction<ReplayResult> value) {
    return Estimate.of(results.stream().mapToDouble(value).toArray());
  }
}
