package io.kvasir.simulator.fleet;

import io.kvasir.simulator.workload.Arrivals;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Actions that run at a later time, ordered by time; actions with the same time run in the order in
 * which they were added.
 *
 * <p>Not thread-safe. Each call costs O(log actions).
 */
final class DelayedEvents {

  private final PriorityQueue<Delayed> pending =
      new PriorityQueue<>(
          Comparator.comparingLong(Delayed::dueNs).thenComparingLong(Delayed::order));
  private long added;

  private record Delayed(long dueNs, long order, Runnable action) {}

  /** Adds an action that takes effect at a time. */
  void add(long dueNs, Runnable action) {
    pending.add(new Delayed(dueNs, added++, action));
  }

  /** When the next action is due, or {@link Arrivals#NEVER}. */
  long nextNs() {
    Delayed next = pending.peek();
    return next == null ? Arrivals.NEVER : next.dueNs();
  }

  /** Runs the actions that are due. */
  void runUntil(long nowNs) {
    while (!pending.isEmpty() && pending.peek().dueNs() <= nowNs) {
      pending.remove().action().run();
    }
  }
}
