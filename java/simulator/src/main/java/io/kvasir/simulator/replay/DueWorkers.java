package io.kvasir.simulator.replay;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongHeapIndirectPriorityQueue;
import java.util.List;

/**
 * The workers by the time at which each has something to do. Most events concern one worker of
 * many, so the others are not looked at. Each call costs O(log workers) for each worker concerned.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class DueWorkers {

  private final List<PacedWorker> workers;
  private final long[] dueNs;
  private final LongHeapIndirectPriorityQueue queue;
  private final IntArrayList due = new IntArrayList();

  DueWorkers(List<PacedWorker> workers) {
    this.workers = workers;
    this.dueNs = new long[workers.size()];
    this.queue = new LongHeapIndirectPriorityQueue(dueNs);
    for (int worker = 0; worker < workers.size(); worker++) {
      changed(worker);
    }
  }

  /** A worker's times may have changed. */
  void changed(int worker) {
    dueNs[worker] = Math.min(workers.get(worker).nextNs(), workers.get(worker).nextWakeNs());
    if (queue.contains(worker)) {
      queue.changed(worker);
    } else {
      queue.enqueue(worker);
    }
  }

  /**
   * When a worker has something to do next, or {@link io.kvasir.simulator.workload.Arrivals#NEVER}.
   */
  long nextNs() {
    return dueNs[queue.first()];
  }

  /**
   * Takes the workers that have something to do by now, in ascending order. Each must be {@link
   * #changed} before the next call.
   */
  IntList take(long nowNs) {
    due.clear();
    while (!queue.isEmpty() && nextNs() <= nowNs) {
      due.add(queue.dequeue());
    }
    due.sort(null);
    return due;
  }
}
