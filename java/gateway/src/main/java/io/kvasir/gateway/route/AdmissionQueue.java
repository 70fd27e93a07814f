package io.kvasir.gateway.route;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the requests that a gateway serves at a time. Requests beyond that wait, up to a second
 * bound: those of a tenant in arrival order, the tenants in turn.
 *
 * <p>Turns are those of deficit round robin over the tokens that are expected of requests
 * (Shreedhar and Varghese, 1995): in each round a tenant may start requests of {@value #QUANTUM}
 * tokens, and keeps what it could not use as long as it has requests that wait. So a tenant with
 * long prompts starts as many tokens as one with short prompts, and fewer requests. A tenant may
 * have as many requests in the queue as there are places left, so that a single one fills half of
 * the queue, and there is always room for another one.
 *
 * <p>Thread-safe. Calls are O(tenants), except that leaving the queue is O(queue).
 */
public final class AdmissionQueue {

  private static final long QUANTUM = 8_192;

  /** The least tokens that count of one request, so that short ones have no end of turns. */
  private static final long MIN_TOKENS = QUANTUM / 64;

  /** The most tokens that count of one request, so that few rounds are needed. */
  private static final long MAX_TOKENS = 16 * QUANTUM;

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

  // Guarded by this.
  private final Map<String, Flow> flows = new HashMap<>();
  private final Deque<Flow> turns = new ArrayDeque<>();
  private int running;
  private int queued;

  /** A request that waits. */
  private record Waiting(long tokens, Runnable start) {}

  /** The requests of a tenant that wait. */
  private static final class Flow {

    private final String tenant;
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private long deficit;

    Flow(String tenant) {
      this.tenant = tenant;
    }
  }

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
   * @param tenant whose it is; empty where there are no tenants
   * @param tokens tokens that are expected of it, at least 0
   * @param start runs once if the request waits and may start, on the thread that made room; the
   *     request must then {@link #leave}
   * @return what becomes of it
   */
  public synchronized Outcome arrive(String tenant, long tokens, Runnable start) {
    if (running < maxRunning) {
      running++;
      return Outcome.ADMITTED;
    }
    Flow flow = flows.get(tenant);
    int own = flow == null || tenant.isEmpty() ? 0 : flow.waiting.size();
    if (own >= maxQueued - queued) {
      return Outcome.REFUSED;
    }
    if (flow == null) {
      flow = new Flow(tenant);
      flows.put(tenant, flow);
      turns.add(flow);
    }
    flow.waiting.add(new Waiting(Math.max(MIN_TOKENS, Math.min(tokens, MAX_TOKENS)), start));
    queued++;
    return Outcome.WAITS;
  }

  /**
   * A waiting request does not want to start any more.
   *
   * @param start the action that it arrived with
   * @return false if the action has run or is about to; the request must then {@link #leave}
   */
  public synchronized boolean withdraw(Runnable start) {
    for (Flow flow : turns) {
      if (flow.waiting.removeIf(each -> each.start().equals(start))) {
        queued--;
        endIfEmpty(flow);
        return true;
      }
    }
    return false;
  }

  private void endIfEmpty(Flow flow) {
    if (flow.waiting.isEmpty()) {
      flows.remove(flow.tenant);
      turns.remove(flow);
    }
  }

  /** A request that was admitted is over. The next one starts. */
  public void leave() {
    Runnable next = next();
    if (next != null) {
      next.run();
    }
  }

  private synchronized @Nullable Runnable next() {
    for (Flow flow = turns.peek(); flow != null; flow = turns.peek()) {
      Waiting first = flow.waiting.element();
      if (flow.deficit >= first.tokens()) {
        flow.deficit -= first.tokens();
        flow.waiting.remove();
        queued--;
        endIfEmpty(flow);
        return first.start();
      }
      flow.deficit += QUANTUM;
      turns.remove();
      turns.add(flow);
    }
    running--;
    return null;
  }

  /** {@return requests in service} */
  public synchronized int running() {
    return running;
  }

  /** {@return requests that wait} */
  public synchronized int queued() {
    return queued;
  }
}
