package io.kvasir.engine.execute;

import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.Occupancy;

/**
 * Running totals of one rank's requests. Every update is O(1).
 *
 * <p>A request is <i>active</i> until it leaves. One that has produced its last token may linger as
 * <i>retiring</i>, and one whose KV is being sent as <i>in transfer</i>; neither is active then. A
 * request with children counts as so many sequences, but its prompt is computed once. Callers hand
 * in the numbers that they handed in before; nothing is looked up.
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
   * A request was placed here; nothing of it is known to be cached yet.
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
   * An active request left: done, cancelled or rejected.
   *
   * @param tokens its prompt tokens
   * @param cachedTokens what was last booked as cached
   * @param sequences 1 and its children
   */
  public void remove(int tokens, int cachedTokens, int sequences) {
    activeRequests -= sequences;
    promptTokens -= tokens;
    uncachedPromptTokens -= tokens - cachedTokens;
  }

  /**
   * An active request has produced its last token but lingers: it counts for liveness only.
   *
   * @param tokens its prompt tokens
   * @param cachedTokens what was last booked as cached
   * @param sequences 1 and its children
   */
  public void retire(int tokens, int cachedTokens, int sequences) {
    remove(tokens, cachedTokens, sequences);
    retiringRequests += sequences;
  }

  /**
   * A retiring request left.
   *
   * @param sequences 1 and its children
   */
  public void forgetRetiring(int sequences) {
    retiringRequests -= sequences;
  }

  /**
   * An active request has been computed and its KV is being sent: it counts for load and admission
   * if the metric says so, and never for liveness.
   *
   * @param tokens its prompt tokens
   * @param cachedTokens what was last booked as cached
   * @param sequences 1 and its children
   */
  public void startTransfer(int tokens, int cachedTokens, int sequences) {
    remove(tokens, cachedTokens, sequences);
    inTransferRequests += sequences;
    uncachedInTransfer += tokens - cachedTokens;
  }

  /**
   * A request's KV has been sent, or cannot be.
   *
   * @param tokens its prompt tokens
   * @param cachedTokens what was last booked as cached
   * @param sequences 1 and its children
   */
  public void endTransfer(int tokens, int cachedTokens, int sequences) {
    inTransferRequests -= sequences;
    uncachedInTransfer -= tokens - cachedTokens;
  }

  /**
   * A request waits here for blocks, or does not any more.
   *
   * @param blocks what it will ask for; negative when it got them or left
   */
  public void queueBlocks(long blocks) {
    queuedBlocks += blocks;
  }

  /**
   * Requests that the rank holds, with their children; without retiring ones and those in transfer.
   *
   * @return at least 0
   */
  public int activeRequests() {
    return activeRequests;
  }

  /**
   * The rank's state for routers.
   *
   * @param metric what counts
   * @param occupancy the pool's occupancy, or null
   * @return a snapshot
   */
  public RankState state(LoadMetric metric, Occupancy occupancy) {
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
