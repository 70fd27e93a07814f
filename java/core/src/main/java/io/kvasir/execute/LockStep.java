package io.kvasir.execute;

import io.kvasir.device.FatalDeviceException;
import java.util.List;

/**
 * One step of all live ranks together: each begins its own, and when the slowest has computed, each
 * ends it. What one rank throws keeps no other rank from its step.
 *
 * <p>Confined to the loop's thread.
 */
final class LockStep {

  private final List<RankExecutor> executors;
  private final LiveRanks ranks;

  /** What the step in progress is going to throw, or null. */
  private RuntimeException failure;

  LockStep(List<RankExecutor> executors, LiveRanks ranks) {
    this.executors = executors;
    this.ranks = ranks;
  }

  /** How long it took, in nanoseconds; 0 only if no rank had work. */
  long run(long nowNs) {
    failure = null;
    boolean ran = false;
    long durationNs = 1;
    InstanceRank[] stepping = ranks.live();
    for (InstanceRank rank : stepping) {
      if (rank.hasWork()) {
        ran = true;
        durationNs = Math.max(durationNs, begin(executors.get(rank.rank()), nowNs));
      }
    }
    if (!ran) {
      return 0;
    }
    for (InstanceRank rank : stepping) {
      end(executors.get(rank.rank()), nowNs + durationNs);
    }
    if (failure != null) {
      throw failure;
    }
    return durationNs;
  }

  private long begin(RankExecutor executor, long nowNs) {
    try {
      return executor.beginStep(nowNs);
    } catch (FatalDeviceException lost) {
      retire(executor, lost, nowNs);
    } catch (RuntimeException e) {
      remember(e); // nothing was told yet: the rank tries again
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

  /** Even if the listener fails the other ranks end their steps. */
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
