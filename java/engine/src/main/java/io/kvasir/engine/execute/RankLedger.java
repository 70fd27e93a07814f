package io.kvasir.engine.execute;

import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.Occupancy;
import org.jspecify.annotations.Nullable;

/**
 * Running totals of one rank's requests. Every update is O(1).
 *
 * <p>A request is <i>active</i> until it leaves. After its last token it may stay as
 * <i>retiring</i>, and while its KV is being sent it is <i>in transfer</i>; in both states it is
 * not active. A request with children counts as one sequence plus one per child, but its prompt is
 * computed once. The ledger keeps totals only: callers must pass the same numbers for a request in
 * every call.
 *
 * <p>Confined to the rank's executor thread.
 */
public final class RankLedger {

  private final int rank;
  private int activeRequests;
  private long promptTokens;
  private long uncachedPromptTokens;
  private int retiringRequests;
  private int inTransferRequests;
  private long uncachedInTransfer;
  private long queuedBlocks;

  /**
   * Makes an empty ledger.
   *
   * @param rank the rank's index in its worker
   */
  public RankLedger(int rank) {
    this.rank = rank;
  }

  /**
   * Adds a request that was placed here; none of its tokens count as cached yet.
   *
   * @param tokens its prompt tokens
   * @param sequences 1 and its children
   */
  public void add(int tokens, int sequences) {
    activeRequests += sequences;
    promptTokens += tokens;
    uncachedPromptTokens += tokens;
  }

  /**
   * Updates the cached tokens of a request, at its first lease or when a resumed request matches
   * another prefix.
   *
   * @param cachedTokensBefore cached tokens booked so far, at most its prompt tokens
   * @param cachedTokens cached tokens to book now, at most its prompt tokens
   */
  public void setCached(int cachedTokensBefore, int cachedTokens) {
    uncachedPromptTokens += cachedTokensBefore - cachedTokens;
  }

  /**
   * Removes an active request that is done, cancelled or rejected.
   *
   * @param tokens its prompt tokens
   * @param cachedTokens cached tokens booked last
   * @param sequences 1 and its children
   */
  public void remove(int tokens, int cachedTokens, int sequences) {
    activeRequests -= sequences;
    promptTokens -= tokens;
    uncachedPromptTokens -= tokens - cachedTokens;
  }

  /**
   * Moves an active request that has produced its last token to retiring: it counts for liveness
   * only.
   *
   * @param tokens its prompt tokens
   * @param cachedTokens cached tokens booked last
   * @param sequences 1 and its children
   */
  public void retire(int tokens, int cachedTokens, int sequences) {
    remove(tokens, cachedTokens, sequences);
    retiringRequests += sequences;
  }

  /**
   * Removes a retiring request.
   *
   * @param sequences 1 and its children
   */
  public void forgetRetiring(int sequences) {
    retiringRequests -= sequences;
  }

  /**
   * Moves an active request whose KV is being sent to in transfer. It counts for load and admission
   * if the metric includes transfers, and never for liveness.
   *
   * @param tokens its prompt tokens
   * @param cachedTokens cached tokens booked last
   * @param sequences 1 and its children
   */
  public void startTransfer(int tokens, int cachedTokens, int sequences) {
    remove(tokens, cachedTokens, sequences);
    inTransferRequests += sequences;
    uncachedInTransfer += tokens - cachedTokens;
  }

  /**
   * Removes a request whose transfer has ended or failed.
   *
   * @param tokens its prompt tokens
   * @param cachedTokens cached tokens booked last
   * @param sequences 1 and its children
   */
  public void endTransfer(int tokens, int cachedTokens, int sequences) {
    inTransferRequests -= sequences;
    uncachedInTransfer -= tokens - cachedTokens;
  }

  /**
   * Adds the blocks of a request that waits for them, or removes them.
   *
   * @param blocks the blocks that it needs; negative when it got them or left
   */
  public void queueBlocks(long blocks) {
    queuedBlocks += blocks;
  }

  /**
   * {@return the number of active requests on the rank, with their children, without retiring ones
   * and those in transfer; at least 0}
   */
  public int activeRequests() {
    return activeRequests;
  }

  /**
   * The rank's state for routers.
   *
   * @param metric the tokens that count
   * @param occupancy the pool's occupancy, or null
   * @return a snapshot
   */
  public RankState state(LoadMetric metric, @Nullable Occupancy occupancy) {
    boolean transfers = metric == LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS;
    long tokens =
        switch (metric) {
          case PROMPT_TOKENS -> promptTokens;
          case UNCACHED_PROMPT_TOKENS -> uncachedPromptTokens;
          case UNCACHED_PROMPT_TOKENS_AND_TRANSFERS -> uncachedPromptTokens + uncachedInTransfer;
        };
    int counted = transfers ? inTransferRequests : 0;
    return new RankState(
        rank,
        activeRequests + counted,
        tokens,
        retiringRequests,
        counted,
        queuedBlocks,
        occupancy,
        null,
        null);
  }
}
