package io.kvasir.cli.lines.route;

import io.kvasir.engine.adp.KvCacheRoutingOptions;
import io.kvasir.engine.adp.RecordedPlacements;
import org.jspecify.annotations.Nullable;

/**
 * Makes the scored decisions of a route trace again and compares them, field by field. Not
 * thread-safe.
 */
final class DecisionCheck {

  /** Relative difference up to which two scores differ in rounding only. */
  private static final double ROUNDING = 1e-12;

  private final int ranks;
  private final int maxActiveRequests;
  private final RecordedPlacements placements;
  private boolean roundedDifferently;

  /**
   * Makes a check.
   *
   * @param ranks ranks of the engine
   * @param maxActiveRequests the most active requests of a rank; 0 if unknown
   */
  DecisionCheck(int ranks, KvCacheRoutingOptions options, int maxActiveRequests) {
    this.ranks = ranks;
    this.maxActiveRequests = maxActiveRequests;
    this.placements = new RecordedPlacements(ranks, options);
  }

  int ranks() {
    return ranks;
  }

  void begin(TracedBatch batch) {
    int most = maxActiveRequests == 0 ? Integer.MAX_VALUE : maxActiveRequests;
    placements.begin(batch.states(), batch.requests(), most);
  }

  /** Adds a decision of the trace, right or not, to the loads. */
  void place(TracedDecision decision) {
    placements.place(decision.rank(), decision.chargedTokens());
  }

  /** What differs first in a scored decision; null if nothing does. */
  @Nullable String difference(TracedDecision decision) {
    roundedDifferently = false;
    String competitors = competitors(decision.competing());
    if (competitors != null) {
      return competitors;
    }
    RecordedPlacements.Scored own =
        placements.score(
            decision.requestId(),
            decision.promptTokens(),
            decision.competing(),
            decision.matchedTokens());
    String gate = different("cache_affinity_active", decision.affinityActive(), own.matchesCount());
    if (gate != null) {
      return gate + clamped(decision);
    }
    String score = score(decision, own.scores());
    if (score != null) {
      return score + clamped(decision);
    }
    String rank = different("best_rank", decision.rank(), own.rank());
    return rank != null
        ? rank
        : different("effective_added", decision.chargedTokens(), own.chargedTokens());
  }

  /** Whether scores of the last decision differ, in rounding only. */
  boolean roundedDifferently() {
    return roundedDifferently;
  }

  /** Without the limit of a rank, a rank below the soft target may be full and not compete. */
  private @Nullable String competitors(int[] competing) {
    int next = 0;
    for (int rank = 0; rank < ranks; rank++) {
      boolean traced = next < competing.length && competing[next] == rank;
      next += traced ? 1 : 0;
      boolean own = placements.activeRequests(rank) < placements.softTarget();
      if (traced != own && (traced || maxActiveRequests > 0)) {
        return "rank %d %s in the trace, but it has %d active requests and the soft target is %d"
            .formatted(
                rank,
                traced ? "competes" : "does not compete",
                placements.activeRequests(rank),
                placements.softTarget());
      }
    }
    return null;
  }

  private @Nullable String score(TracedDecision decision, double[] own) {
    for (int i = 0; i < own.length; i++) {
      double traced = decision.scores()[i];
      if (traced != own[i]) {
        double largest = Math.max(Math.abs(traced), Math.abs(own[i]));
        if (!(Math.abs(traced - own[i]) <= ROUNDING * largest)) {
          return different("score of rank " + decision.competing()[i], traced, own[i]);
        }
        roundedDifferently = true;
      }
    }
    return null;
  }

  private static @Nullable String different(String what, Object traced, Object own) {
    return traced.equals(own) ? null : what + " is " + traced + " in the trace, " + own + " here";
  }

  /** A reason for a difference that is known. */
  private static String clamped(TracedDecision decision) {
    for (int matched : decision.matchedTokens()) {
      if (matched > decision.promptTokens()) {
        return " (a match of %d tokens counts as the prompt's %d here)"
            .formatted(matched, decision.promptTokens());
      }
    }
    return "";
  }
}
