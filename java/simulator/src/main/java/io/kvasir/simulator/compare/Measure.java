package io.kvasir.simulator.compare;

import io.kvasir.simulator.fleet.FleetResult;
import io.kvasir.simulator.replay.ReplayResult;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/** The figures that comparisons estimate. Times are modelled milliseconds. */
@SuppressWarnings("ImmutableEnumChecker") // the functions have no state
public enum Measure {
  /** Time to first token, 95th percentile. */
  TTFT_P95_MS("ttftP95Ms", result -> result.ttft().p95Ms()),
  /** Time to first token, median. */
  TTFT_P50_MS("ttftP50Ms", result -> result.ttft().p50Ms()),
  /** Time to first token, 99th percentile. */
  TTFT_P99_MS("ttftP99Ms", result -> result.ttft().p99Ms()),
  /** Time to first token, mean. */
  TTFT_MEAN_MS("ttftMeanMs", result -> result.ttft().meanMs()),
  /** Share of prompt tokens that came from cache. */
  TOKEN_HIT_RATE("tokenHitRate", ReplayResult::tokenHitRate),
  /** Coefficient of variation of the requests per rank. */
  ROUTED_CV("routedCv", ReplayResult::routedCv),
  /** Share of the requests that fit into no pool. */
  REJECTED("rejected", result -> (double) result.rejected() / Math.max(1, result.requests())),
  /** Share of the time in which at least one rank prefilled. */
  PREFILL_SHARE("utilisation", ReplayResult::prefillShare),
  /**
   * Of a fleet, the share of the requests placed on a worker that was still computing another
   * prompt.
   */
  BEHIND_PROMPTS("behindPrompts", Measure::behindPrompts),
  /** Time between two tokens of an answer, mean. */
  ITL_MEAN_MS("itlMeanMs", result -> result.itl().meanMs()),
  /** With prefill and decode apart, the share of the requests that a decode worker served whole. */
  LOCAL_PREFILL_SHARE("localPrefillShare", Measure::localPrefillShare);

  private final String key;
  private final ToDoubleFunction<ReplayResult> value;

  Measure(String key, ToDoubleFunction<ReplayResult> value) {
    this.key = key;
    this.value = value;
  }

  /** {@return the figure's name in JSON reports, for example {@code ttftP95Ms}} */
  public String key() {
    return key;
  }

  private static double behindPrompts(ReplayResult result) {
    FleetResult fleet = Objects.requireNonNull(result.fleet(), "the replay has no fleet");
    return (double) fleet.behindPrompts() / result.measuredRequests();
  }

  private static double localPrefillShare(ReplayResult result) {
    return Objects.requireNonNull(result.apart(), "the replay has no roles").localShare();
  }

  /** The figure of one replay. */
  double of(ReplayResult result) {
    return value.applyAsDouble(result);
  }
}
