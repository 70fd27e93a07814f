package io.kvasir.simulator.replay;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The instances under replay. Owns them.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class ReplayWorkers implements AutoCloseable {

  private final List<ReplayWorker> owned = new ArrayList<>();
  private final List<PacedWorker> paced = new ArrayList<>();

  void add(ReplayWorker instance, WorkerTally tally) {
    owned.add(instance);
    paced.add(new PacedWorker(instance, tally));
  }

  /** The instances by index. */
  List<PacedWorker> all() {
    return Collections.unmodifiableList(paced);
  }

  /** The results of all ranks, instance by instance. To be called once. */
  List<RankResult> ranks() {
    return paced.stream().flatMap(instance -> instance.ranks().stream()).toList();
  }

  /** Modelled time in which some rank of an instance prefilled, all instances together. */
  long prefillNs() {
    return owned.stream().mapToLong(ReplayWorker::prefillNs).sum();
  }

  /** Closes all of them, whatever some of them throw. */
  @Override
  public void close() {
    RuntimeException failure = null;
    for (ReplayWorker instance : owned) {
      try {
        instance.close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
