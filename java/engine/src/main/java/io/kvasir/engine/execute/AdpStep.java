package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.device.FatalDeviceException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One step of all live ranks together. Each rank begins its own step, and all end it when the
 * slowest has computed. An exception of one rank does not keep the others from stepping.
 *
 * <p>Confined to the loop's thread.
 */
final class AdpStep {

  private final List<RankExecutor> executors;
  private final LiveRanks ranks;
  private final AdpRouter router;
  private final @Nullable AdpBalance balance;
  private final RankWork[] work;

  /** The exception to throw at the end of the step in progress, or null. */
  private @Nullable RuntimeException failure;

  /** {@code balance} decides whether prefill is delayed; null for never. */
  AdpStep(
      List<RankExecutor> executors,
      LiveRanks ranks,
      AdpRouter router,
      @Nullable AdpBalance balance) {
    this.executors = executors;
    this.ranks = ranks;
    this.router = router;
    this.balance = balance;
    this.work = new RankWork[executors.size()];
  }

  /**
   * Runs a step; returns its duration in nanoseconds, 0 only if no rank had work that could run
   * now.
   */
  long run(long nowNs) {
    failure = null;
    WorkerRank[] stepping = ranks.live();
    if (!anyWork(stepping)) {
      return 0;
    }
    boolean withoutPrefill = balance != null && balance.hold(scheduled(stepping));
    boolean ran = false;
    long durationNs = 1;
    for (WorkerRank rank : stepping) {
      if (rank.hasWork()) {
        RankExecutor executor = executors.get(rank.rank());
        durationNs = Math.max(durationNs, begin(executor, nowNs, withoutPrefill));
        ran |= !executor.waitsForTransfer();
      }
    }
    if (!ran) {
      return 0;
    }
    if (router.learnsFromSteps() && failure == null) {
      Arrays.setAll(work, rank -> executors.get(rank).stepWork());
      router.stepped(Arrays.asList(work), durationNs);
    }
    for (WorkerRank rank : stepping) {
      end(executors.get(rank.rank()), nowNs + durationNs);
    }
    if (failure != null) {
      throw failure;
    }
    return durationNs;
  }

  static boolean anyWork(WorkerRank[] stepping) {
    for (WorkerRank rank : stepping) {
      if (rank.hasWork()) {
        return true;
      }
    }
    return false;
  }

  private List<AdpBalance.Scheduled> scheduled(WorkerRank[] stepping) {
    List<AdpBalance.Scheduled> all = new ArrayList<>(stepping.length);
    for (WorkerRank rank : stepping) {
      all.add(executors.get(rank.rank()).scheduled());
    }
    return all;
  }

  private long begin(RankExecutor executor, long nowNs, boolean withoutPrefill) {
    try {
      return executor.beginStep(nowNs, withoutPrefill);
    } catch (FatalDeviceException lost) {
      retire(executor, lost, nowNs);
    } catch (RuntimeException e) {
      remember(e); // there are no results yet: the rank retries the step
    }
    return 0;
  }

  private void end(RankExecutor executor, long endNs) {
    try {
      executor.endStep(endNs);
    } catch (FatalDeviceException lost) {
      retire(executor, lost, endNs);
    } catch (RuntimeException e) {
      remember(e);
      retire(executor, e, endNs);
    }
  }

  /**
   * Retires a rank. An exception of the listener does not keep the other ranks from ending their
   * steps.
   */
  private void retire(RankExecutor executor, RuntimeException cause, long nowNs) {
    try {
      ranks.retire(executor, cause, nowNs);
    } catch (RuntimeException e) {
      remember(e);
    }
  }

  private void remember(RuntimeException e) {
    if (failure == null) {
      failure = e;
    } else if (failure != e) {
      failure.addSuppressed(e);
    }
  }
}
