package io.kvasir.simulator.report;

import io.kvasir.simulator.replay.ReplayResult;
import org.jspecify.annotations.Nullable;

/** Names a replay in which requests waited for long, and whether ranks could have taken them. */
final class Jam {

  /** The 95th percentile of the time in queue from which requests are said to jam. */
  private static final double LEAST_MS = 10_000;

  private static final double MS_PER_S = 1e3;
  private static final double PERCENT = 100;

  private Jam() {}

  /** What to say about a replay, or null. */
  static @Nullable String of(ReplayResult result) {
    double waitedMs = result.queue().p95Ms();
    if (!(waitedMs >= LEAST_MS)) {
      return null;
    }
    int idlest = 0;
    for (int rank = 1; rank < result.ranks().size(); rank++) {
      idlest = busyNs(result, rank) < busyNs(result, idlest) ? rank : idlest;
    }
    return "one request in 20 waited for more than %s s, while rank %d computed for %s %% of the time"
        .formatted(
            Numbers.decimals(waitedMs / MS_PER_S, 0),
            idlest,
            Numbers.decimals(PERCENT * busyNs(result, idlest) / result.virtualNs(), 0));
  }

  private static long busyNs(ReplayResult result, int rank) {
    return result.ranks().get(rank).busyNs();
  }
}
