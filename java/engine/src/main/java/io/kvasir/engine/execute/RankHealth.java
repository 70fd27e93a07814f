package io.kvasir.engine.execute;

/**
 * Retires the ranks of devices that are not healthy any more, before they give wrong answers or
 * fail.
 *
 * <p>Confined to the loop's thread.
 */
public final class RankHealth {

  private final AdpLoop loop;
  private final RankPools pools;
  private final int firstRank;
  private int seen;

  /**
   * Makes a watch over a worker.
   *
   * @param loop the worker's loop
   * @param pools the pools of its ranks
   */
  public RankHealth(AdpLoop loop, RankPools pools) {
    this(loop, pools, 0);
  }

  /**
   * Makes a watch over the ranks of one process of a worker.
   *
   * @param loop the process' part of the worker's loop
   * @param pools the pools of its ranks
   * @param firstRank the first of them
   */
  public RankHealth(AdpLoop loop, RankPools pools, int firstRank) {
    this.firstRank = firstRank;
    this.loop = loop;
    this.pools = pools;
  }

  /**
   * To be called before an iteration, which then acts on it. Costs a load as long as no device has
   * a problem.
   */
  public void check() {
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
