package io.kvasir.simulator.report;

import io.kvasir.simulator.replay.ReplayResult;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Names replays in which so many requests were rejected that the other figures mislead. */
final class Rejected {

  /** The share of rejected requests above which a report begins with them. */
  private static final double MOST = 0.01;

  private Rejected() {}

  /** What to say about a replay, or null. */
  static @Nullable String of(ReplayResult result) {
    if (!isMuch((double) result.rejected() / Math.max(1, result.requests()))) {
      return null;
    }
    return String.format(
        Locale.ROOT,
        "%s of %s requests %s rejected (%s %%); times and rates are those of the other %s",
        Numbers.count(result.rejected()),
        Numbers.count(result.requests()),
        result.rejected() == 1 ? "was" : "were",
        Numbers.decimals(100.0 * result.rejected() / result.requests(), 1),
        Numbers.count(result.requests() - result.rejected()));
  }

  /** Whether a share of the requests is too large to be overlooked. */
  static boolean isMuch(double share) {
    return share > MOST;
  }
}
