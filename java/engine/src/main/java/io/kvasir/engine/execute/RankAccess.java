package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import java.util.List;

/**
 * How the loop learns of its ranks and lets them step: directly if all live here ({@link
 * LocalRanks}), or together with the other processes of the worker ({@link GatheredRanks}).
 *
 * <p>Confined to the loop's thread.
 */
interface RankAccess {

  /** Retires the ranks that somebody asked for, as far as that can be done now. */
  void retireAsked(long nowNs);

  /** The states of the live ranks, in order. Ranks that turn out to be lost are retired. */
  List<RankState> states(long nowNs);

  /**
   * What each rank holds of each prompt and, if the router wants to know, what it will hold.
   *
   * @param probe the prompts' blocks, in the order of {@code batch}
   */
  PrefixMatches matches(ProbeBatch probe, List<PlacedRequest> batch);

  /** The state of a rank that lives here, with all that the router reads. */
  static RankState state(RankExecutor executor, AdpRouter router) {
    RankState state = executor.state(router.loadMetric());
    return router.readsWork() ? state.withWork(executor.work()) : state;
  }

  /** Takes note of how a batch was routed. */
  void routed(
      List<RankState> states,
      List<PlacedRequest> batch,
      PrefixMatches matches,
      Assignment assignment);

  /** Lets all live ranks step; how long that takes, 0 only if none had work that could be done. */
  long step(long nowNs);
}
