package io.kvasir.simulator.replay;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The workers under replay. Owns them.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class ReplayWorkers implements AutoCloseable {

  private final List<ReplayWorker> owned = new ArrayList<>();
  private final List<PacedWorker> paced = new ArrayList<>();

  void add(ReplayWorker worker, WorkerTally tally) {
    owned.add(worker);
    paced.add(new PacedWorker(worker, tally));
  }

  ReplayWorker worker(int index) {
    return owned.get(index);
  }

  /** The workers by index. */
  List<PacedWorker> all() {
    return Collections.unmodifiableList(paced);
  }

  /** The results of all ranks, worker by worker. To be called once. */
  List<RankResult> ranks() {
    return paced.stream().flatMap(worker -> worker.ranks().stream()).toList();
  }

  /** Modelled time in which at least one rank of a worker prefilled, summed over the workers. */
  long prefillNs() {
    return owned.stream().mapToLong(ReplayWorker::prefillNs).sum();
  }

  /** Closes all of them, even if some fail. */
  @Override
  public void close() {
    RuntimeException failure = null;
    for (ReplayWorker worker : owned) {
      try {
        worker.close();
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
