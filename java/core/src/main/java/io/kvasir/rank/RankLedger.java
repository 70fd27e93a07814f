package io.kvasir.rank;

import io.kvasir.model.Occupancy;
import io.kvasir.model.RankState;

/**
 * Running totals of one rank's active requests. Every update is O(1).
 *
 * <p>Confined to the rank's executor thread.
 */
public final class RankLedger {

  private final int rank;
  private int activeRequests;
  private long promptTokens;
  private long uncachedPromptTokens;

  /**
   * Makes an empty ledger.
   *
   * @param rank the rank's index in its instance
   */
  public RankLedger(int rank) {
    this.rank = rank;
  }

  /**
   * A request was placed here; nothing of it is known to be cached yet.
   *
   * @param tokens its prompt tokens
   */
  public void add(int tokens) {
    activeRequests++;
    promptTokens += tokens;
    uncachedPromptTokens += tokens;
  }

  /**
   * What a request found in the cache changed: at its first lease, or when a resumed request found
   * another prefix.
   *
   * @param cachedTokensBefore what was booked before, at most its prompt tokens
   * @param cachedTokens what is known now, at most its prompt tokens
   */
  public void setCached(int cachedTokensBefore, int cachedTokens) {
    uncachedPromptTokens += cachedTokensBefore - cachedTokens;
  }

  /**
   * A request left: done, cancelled or rejected.
   *
   * @param tokens its prompt tokens
   * @param cachedTokens what was last booked as cached
   */
  public void remove(int tokens, int cachedTokens) {
    activeRequests--;
    promptTokens -= tokens;
    uncachedPromptTokens -= tokens - cachedTokens;
  }

  /**
   * Requests that the rank holds.
   *
   * @return at least 0
   */
  public int activeRequests() {
    return activeRequests;
  }

  /**
   * The rank's state for routers.
   *
   * @param metric which tokens count
   * @param occupancy the pool's occupancy, or null
   * @return a snapshot
   */
  public RankState state(LoadMetric metric, Occupancy occupancy) {
    long tokens =
        switch (metric) {
          case PROMPT_TOKENS -> promptTokens;
          case UNCACHED_PROMPT_TOKENS -> uncachedPromptTokens;
        };
    return new RankState(rank, activeRequests, tokens, 0, occupancy);
  }
}
