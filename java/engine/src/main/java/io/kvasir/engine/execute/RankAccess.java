package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import java.util.List;

/**
 * The loop's access to the states, matches and steps of its ranks: direct if all ranks are in this
 * process ({@link LocalRanks}), or through gathers if the worker spans several processes ({@link
 * GatheredRanks}).
 *
 * <p>Confined to the loop's thread.
 */
interface RankAccess {

  /** Retires the ranks whose retirement was requested, or leaves that to the next gather. */
  void retireRequested(long nowNs);

  /** The states of the live ranks, in order. Ranks that turn out to have failed are retired. */
  List<RankState> states(long nowNs);

  /**
   * The match of each prompt on each rank and, if the router reads work, the pending tokens too.
   *
   * @param probe the prompts' blocks, in the order of {@code batch}
   */
  PrefixMatches matches(ProbeBatch probe, List<PlacedRequest> batch);

  /** The state of a rank of this process, with all fields that the router reads. */
  static RankState state(RankExecutor executor, AdpRouter router) {
    RankState state = executor.state(router.loadMetric());
    return router.readsWork() ? state.withWork(executor.work()) : state;
  }

  /** Logs the routing of a batch. */
  void routed(
      List<RankState> states,
      List<PlacedRequest> batch,
      PrefixMatches matches,
      Assignment assignment);

  /** Steps all live ranks; returns the duration, 0 only if no rank had work that could run. */
  long step(long nowNs);
}
