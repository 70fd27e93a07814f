package io.kvasir.gateway.route;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the requests that a gateway serves at a time. Requests beyond that wait in arrival order,
 * up to a second bound.
 *
 * <p>Thread-safe. Calls are O(1), except that leaving the queue is O(queue).
 */
public final class AdmissionQueue {

  /** What became of an arrival. */
  public enum Outcome {
    /** The request may start; it must {@link AdmissionQueue#leave}. */
    ADMITTED,
    /** The request waits; its action runs when it may start. */
    WAITS,
    /** The queue is full. */
    REFUSED
  }

  private final int maxRunning;
  private final int maxQueued;
  private final Deque<Runnable> queue = new ArrayDeque<>();
  private int running;

  /**
   * Creates an admission without requests.
   *
   * @param maxRunning requests served at a time, at least 1
   * @param maxQueued requests that may wait, at least 0
   */
  public AdmissionQueue(int maxRunning, int maxQueued) {
    this.maxRunning = maxRunning;
    this.maxQueued = maxQueued;
  }

  /**
   * A request has arrived.
   *
   * @param start runs once if the request waits and may start, on the thread that made room; the
   *     request must then {@link #leave}
   * @return what becomes of it
   */
  public synchronized Outcome arrive(Runnable start) {
    if (running < maxRunning) {
      running++;
      return Outcome.ADMITTED;
    }
    if (queue.size() >= maxQueued) {
      return Outcome.REFUSED;
    }
    queue.add(start);
    return Outcome.WAITS;
  }

  /**
   * A waiting request does not want to start any more.
   *
   * @param start the action that it arrived with
   * @return false if the action has run or is about to; the request must then {@link #leave}
   */
  public synchronized boolean withdraw(Runnable start) {
    return queue.remove(start);
  }

  /** A request that was admitted is over. The next one starts. */
  public void leave() {
    Runnable next = next();
    if (next != null) {
      next.run();
    }
  }

  private synchronized @Nullable Runnable next() {
    Runnable next = queue.poll();
    if (next == null) {
      running--;
    }
    return next;
  }

  /** {@return requests in service} */
  public synchronized int running() {
    return running;
  }

  /** {@return requests that wait} */
  public synchronized int queued() {
    return queue.size();
  }
}
