package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.pool.PrefixMatcher;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The ranks of a worker that runs in one process. Confined to the loop's thread. */
final class LocalRanks implements RankAccess {

  private static final Logger LOG = LoggerFactory.getLogger(LocalRanks.class);

  private final List<RankExecutor> executors;
  private final LiveRanks ranks;
  private final AdpRouter router;
  private final PrefixMatcher matcher;
  private final AdpStep step;

  LocalRanks(
      List<RankExecutor> executors,
      LiveRanks ranks,
      AdpRouter router,
      PrefixMatcher matcher,
      @Nullable AdpBalance balance) {
    this.executors = List.copyOf(executors);
    this.ranks = ranks;
    this.router = router;
    this.matcher = matcher;
    this.step = new AdpStep(this.executors, ranks, router, balance);
  }

  @Override
  public void retireRequested(long nowNs) {
    ranks.retireRequested(nowNs);
  }

  @Override
  public List<RankState> states(long nowNs) {
    if (router.readsOccupancy()) {
      submitPools(nowNs);
    }
    List<RankState> states = new ArrayList<>(ranks.count());
    for (WorkerRank rank : ranks.live()) {
      RankExecutor executor = executors.get(rank.rank());
      try {
        if (router.readsOccupancy()) {
          executor.settle();
        }
        states.add(RankAccess.state(executor, router));
      } catch (FatalDeviceException lost) {
        ranks.retire(executor, lost, nowNs);
      }
    }
    return states;
  }

  /**
   * Submits the deferred operations of all pools, so that devices work in parallel before the first
   * wait.
   */
  private void submitPools(long nowNs) {
    for (WorkerRank rank : ranks.live()) {
      RankExecutor executor = executors.get(rank.rank());
      try {
        executor.submitPool();
      } catch (FatalDeviceException lost) {
        ranks.retire(executor, lost, nowNs);
      }
    }
  }

  @Override
  public PrefixMatches matches(ProbeBatch probe, List<PlacedRequest> batch) {
    PrefixMatches matches = match(probe);
    if (router.readsWork()) {
      matches =
          matches == PrefixMatches.NONE ? new PrefixMatches(ranks.count(), batch.size()) : matches;
      for (WorkerRank rank : ranks.live()) {
        RankExecutor executor = executors.get(rank.rank());
        for (int i = 0; i < batch.size(); i++) {
          matches.setPending(rank.rank(), i, executor.pendingTokens(batch.get(i)));
        }
      }
    }
    return matches;
  }

  private PrefixMatches match(ProbeBatch probe) {
    try {
      return matcher.match(probe);
    } catch (FatalDeviceException lost) {
      // Matches are advisory. The next call of the failed pool itself retires its rank.
      LOG.warn("Requests are placed without prefix matches: {}", lost.getMessage());
      return PrefixMatches.NONE;
    }
  }

  @Override
  public void routed(
      List<RankState> states,
      List<PlacedRequest> batch,
      PrefixMatches matches,
      Assignment assignment) {
    // There are no other processes to compare decisions with.
  }

  @Override
  public long step(long nowNs) {
    return step.run(nowNs);
  }
}
