package io.kvasir.embedded.ranks;

import io.kvasir.embedded.api.AskedCompletion;

/**
 * A request whose KV comes from another engine, or goes to one. Of one sequence.
 *
 * <p>Used by the ranks' thread, except for {@link #asked} and {@link #waitsForKv}.
 */
public interface KvLeg {

  /** {@return what is to be answered} */
  AskedCompletion asked();

  /** {@return whether KV comes before the sequence runs, so that its rank has to be known} */
  boolean waitsForKv();

  /**
   * The sequence has entered.
   *
   * @param sequence the sequence
   * @param worker has the blocks
   * @return whether it runs now; if not, the leg lets it run later
   */
  boolean onEntered(LegSequence sequence, RankWorker worker);

  /**
   * The sequence runs: it has its blocks.
   *
   * @param cachedTokens prompt tokens that were in the rank's pool
   * @return those that its reply reports
   */
  int onStarted(int cachedTokens);

  /**
   * The sequence has all its tokens, and its blocks are not its own any more.
   *
   * @param sequence the sequence
   * @param worker has the blocks
   * @param rank the rank that computed it
   * @param outputTokens the tokens of its answer
   * @return whether it is answered now; if not, the leg ends it later
   */
  boolean onComputed(LegSequence sequence, RankWorker worker, int rank, int[] outputTokens);

  /** The sequence has ended without an answer. */
  void onEnded();
}
