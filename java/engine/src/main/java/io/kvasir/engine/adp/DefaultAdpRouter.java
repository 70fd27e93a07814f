package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Balances prompt tokens and ignores where prefixes match.
 *
 * <p>Requests that name a rank with room go there, strict ones first, and are not charged to its
 * token load. The others are placed longest first. Each goes to the rank with the fewest tokens,
 * then the fewest requests, then the lowest index, among the ranks below the soft target. The soft
 * target is the mean number of requests per rank, rounded up, or the fullest rank's count if that
 * is larger, and at most the hard cap. Ranks that cannot hold a request are skipped while others
 * can.
 *
 * <p>With token load, as in TensorRT-LLM under {@code dkv_config}, where all ranks share one cache,
 * a request's tokens are those that no rank holds, and requests that name their rank are charged
 * too.
 *
 * <p>Stateless between calls. Not thread-safe: working memory is reused.
 */
public final class DefaultAdpRouter implements AdpRouter {

  private final PlacementBatch batch;
  private final RankLoads ranks;
  private final boolean tokenLoad;

  /** The tokens that each request of the batch adds to its rank's load. */
  private int[] tokens = new int[16];

  /**
   * Creates a router that ignores occupancy.
   *
   * @param ranks ranks of the worker
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public DefaultAdpRouter(int ranks) {
    this(ranks, false, null);
  }

  /**
   * Creates a router.
   *
   * @param ranks ranks of the worker
   * @param tokenLoad whether only tokens that no rank holds count
   * @param demand blocks that a request needs; null to ignore occupancy
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public DefaultAdpRouter(int ranks, boolean tokenLoad, @Nullable BlockDemand demand) {
    this.batch = new PlacementBatch(AdpRouterKind.DEFAULT.id(), ranks, demand, false);
    this.ranks = batch.ranks();
    this.tokenLoad = tokenLoad;
  }

  @Override
  public String name() {
    return AdpRouterKind.DEFAULT.id();
  }

  @Override
  public boolean needsPrefixMatches() {
    return tokenLoad;
  }

  @Override
  public boolean readsOccupancy() {
    return batch.readsOccupancy();
  }

  @Override
  public LoadMetric loadMetric() {
    return tokenLoad ? LoadMetric.UNCACHED_PROMPT_TOKENS : LoadMetric.PROMPT_TOKENS;
  }

  @Override
  public Assignment route(
      List<RankState> states,
      List<Request> requests,
      PrefixMatches matches,
      int maxActiveRequests) {
    batch.begin(states, requests, matches, maxActiveRequests);
    countTokens();
    for (int i = 0; i < batch.size(); i++) {
      int index = batch.strictFirst(i);
      int target = batch.request(index).targetRank();
      if (target != Request.ANY_RANK && batch.hasRoom(target)) {
        batch.place(index, target, AdpReason.EXPLICIT, tokenLoad ? tokens[index] : 0);
      } else {
        batch.defer(index);
      }
    }
    int expected = batch.softTarget(1.0);
    batch.sortDeferred((a, b) -> Integer.compare(tokens[b], tokens[a]));
    int placed = 0;
    for (; placed < batch.deferredCount(); placed++) {
      int index = batch.deferred(placed);
      int rank = lightest(index, expected);
      if (rank < 0) {
        break;
      }
      batch.place(index, rank, AdpReason.LOAD, tokens[index]);
    }
    return batch.finish(placed, expected);
  }

  private void countTokens() {
    if (tokens.length < batch.size()) {
      tokens = new int[Math.max(batch.size(), 2 * tokens.length)];
    }
    for (int i = 0; i < batch.size(); i++) {
      int promptTokens = batch.request(i).promptTokens();
      tokens[i] = tokenLoad ? promptTokens - batch.longestMatch(i) : promptTokens;
    }
  }

  /** The least loaded rank below {@code expected} requests, or -1. */
  private int lightest(int index, int expected) {
    batch.consider(index, expected);
    int lightest = -1;
    for (int i = 0; i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      if (ranks.activeRequests(rank) < expected
          && (lightest < 0 || lighter(rank, lightest))
          && batch.acceptable(rank, index)) {
        lightest = rank;
      }
    }
    return lightest;
  }

  private boolean lighter(int rank, int other) {
    long tokens = ranks.activeTokens(rank);
    long otherTokens = ranks.activeTokens(other);
    return tokens < otherTokens
        || (tokens == otherTokens && ranks.activeRequests(rank) < ranks.activeRequests(other));
  }
}
