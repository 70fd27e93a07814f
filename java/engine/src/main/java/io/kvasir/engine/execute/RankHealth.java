package io.kvasir.engine.execute;

/**
 * Retires the ranks of unhealthy devices before these compute wrong results or fail.
 *
 * <p>Confined to the loop's thread.
 */
final class RankHealth {

  private final AdpLoop loop;
  private final RankPools pools;
  private final int firstRank;
  private int seen;

  /**
   * Creates the watch over the ranks of one process of a worker.
   *
   * @param loop the process's part of the worker's loop
   * @param pools the pools of its ranks
   * @param firstRank the first of them
   */
  RankHealth(AdpLoop loop, RankPools pools, int firstRank) {
    this.firstRank = firstRank;
    this.loop = loop;
    this.pools = pools;
  }

  /**
   * Requests the retirement of ranks whose devices have a problem; the next iteration retires them.
   * Costs one load as long as no device has a problem.
   */
  void check() {
    int problems = pools.problems();
    if (problems == seen) {
      return;
    }
    seen = problems;
    for (int rank = 0; rank < pools.pools().size(); rank++) {
      int unhealthy = firstRank + rank;
      pools.problem(rank).ifPresent(problem -> loop.retire(unhealthy, problem));
    }
  }
}
