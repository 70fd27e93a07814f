package io.kvasir.simulator.fleet;

import io.kvasir.simulator.workload.Arrivals;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;

/**
 * Actions that run at a later time, ordered by time; actions with the same time run in the order in
 * which they were added.
 *
 * <p>Not thread-safe. Most actions are due after one of a few delays, so they are due in the order
 * of their adding and wait in a lane of their own; each call then costs O(lanes). Any other costs
 * O(log actions).
 */
final class DelayedEvents {

  private static final int LANES = 4;

  private static final Comparator<Delayed> FIRST =
      Comparator.comparingLong(Delayed::dueNs).thenComparingLong(Delayed::order);

  /** Actions in the order of their times, by lane. */
  private final List<ArrayDeque<Delayed>> lanes = new ArrayList<>();

  private final PriorityQueue<Delayed> others = new PriorityQueue<>(FIRST);
  private long added;

  private record Delayed(long dueNs, long order, Runnable action) {}

  DelayedEvents() {
    for (int i = 0; i < LANES; i++) {
      lanes.add(new ArrayDeque<>());
    }
  }

  /** Adds an action that takes effect at a time. */
  void add(long dueNs, Runnable action) {
    Delayed delayed = new Delayed(dueNs, added++, action);
    for (ArrayDeque<Delayed> lane : lanes) {
      Delayed last = lane.peekLast();
      if (last == null || last.dueNs() <= dueNs) {
        lane.add(delayed);
        return;
      }
    }
    others.add(delayed);
  }

  /** When the next action is due, or {@link Arrivals#NEVER}. */
  long nextNs() {
    Delayed next = firstQueue().peek();
    return next == null ? Arrivals.NEVER : next.dueNs();
  }

  /** The queue that has the next action; an empty one if there is none. */
  private Queue<Delayed> firstQueue() {
    Queue<Delayed> queue = others;
    Delayed next = others.peek();
    for (ArrayDeque<Delayed> lane : lanes) {
      Delayed first = lane.peek();
      if (first != null && (next == null || FIRST.compare(first, next) < 0)) {
        next = first;
        queue = lane;
      }
    }
    return queue;
  }

  /** Runs the actions that are due. */
  void runUntil(long nowNs) {
    Queue<Delayed> queue = firstQueue();
    while (!queue.isEmpty() && queue.element().dueNs() <= nowNs) {
      queue.remove().action().run();
      queue = firstQueue();
    }
  }
}
