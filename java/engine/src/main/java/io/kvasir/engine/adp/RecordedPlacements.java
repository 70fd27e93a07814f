package io.kvasir.engine.adp;

import io.kvasir.model.Checks;
import java.util.List;

/**
 * Follows the placements that a {@code kv_cache_aware} router of another process made, batch by
 * batch, and makes each scored decision again from the loads and matches that it recorded.
 *
 * <p>Not thread-safe.
 */
public final class RecordedPlacements {

  private static final int UNKNOWN = -1;

  private final KvCacheRoutingOptions options;
  private final RankLoads loads;
  private final KvCacheScores scores;
  private int maxActiveRequests;
  private int left;
  private int softTarget;

  /**
   * A decision that was made again.
   *
   * @param rank the rank with the best score
   * @param matchesCount whether the longest match exceeds the threshold, so that matches count
   * @param scores the score of each rank that competed; lower is better
   * @param chargedTokens prompt tokens that {@code rank} has to compute
   */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  public record Scored(int rank, boolean matchesCount, double[] scores, int chargedTokens) {}

  /**
   * Makes a follower that has seen no batch.
   *
   * @param ranks ranks of the worker
   * @param options weight, threshold and multiplier of the router; the rest is not used
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public RecordedPlacements(int ranks, KvCacheRoutingOptions options) {
    this.options = options;
    this.loads = new RankLoads(ranks);
    this.scores = new KvCacheScores(ranks, options);
  }

  /**
   * Starts a batch.
   *
   * @param states the ranks before the batch, one state for each, in order
   * @param requests requests of the batch, with those that were not placed
   * @param maxActive the most active requests of a rank
   * @throws IllegalArgumentException naming the value that is out of range
   */
  public void begin(List<RankState> states, int requests, int maxActive) {
    loads.check(states);
    Checks.atLeast("requests", requests, 0);
    Checks.atLeast("maxActive", maxActive, 0);
    loads.begin(states);
    left = requests;
    maxActiveRequests = maxActive;
    softTarget = UNKNOWN;
  }

  /**
   * Adds a placement to the load of its rank.
   *
   * @param rank the rank
   * @param chargedTokens tokens that the rank has to compute
   */
  public void place(int rank, int chargedTokens) {
    loads.add(rank, 1, chargedTokens);
    left--;
  }

  /**
   * {@return the number of requests below which a rank competes for a request} It is fixed when it
   * is first asked for in a batch, which must be after the placements that need no score.
   */
  public int softTarget() {
    if (softTarget == UNKNOWN) {
      softTarget =
          loads.softTarget(Math.max(left, 0), options.fairShareMultiplier(), maxActiveRequests);
    }
    return softTarget;
  }

  /**
   * {@return the requests of a rank, with those placed so far}
   *
   * @param rank the rank
   */
  public int activeRequests(int rank) {
    return loads.activeRequests(rank);
  }

  /**
   * Scores the ranks that competed for a request. Places nothing.
   *
   * @param requestId the request's id, the seed for ties
   * @param promptTokens tokens of its prompt
   * @param ranks the ranks that competed, at least one, in ascending order
   * @param matchedTokens for each of them, matched tokens of the prompt
   * @return the decision
   */
  public Scored score(long requestId, int promptTokens, int[] ranks, int[] matchedTokens) {
    scores.clear();
    for (int i = 0; i < ranks.length; i++) {
      scores.add(
          loads.activeTokens(ranks[i]), PlacementBatch.clamped(matchedTokens[i], promptTokens));
    }
    int best = scores.best(requestId, promptTokens);
    return new Scored(
        ranks[best],
        scores.matchesCount(),
        scores.toArray(),
        promptTokens - scores.matchedTokens(best));
  }
}
