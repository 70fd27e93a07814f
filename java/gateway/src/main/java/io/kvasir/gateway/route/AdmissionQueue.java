package io.kvasir.gateway.route;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the requests that a gateway serves at a time. Requests beyond that wait, up to a second
 * bound: those of a tenant in arrival order, the tenants in turn.
 *
 * <p>Turns are those of start-time fair queueing (Goyal, Vin and Cheng, 1996) over the tokens that
 * are expected of requests. A tenant's next request has a start: where the tenant's request before
 * it ends, but not before the start of the request that was started last. The request with the
 * least start is next. So tenants that always have requests here start equally many tokens, and a
 * tenant that has had less than that starts next, however many requests of others wait.
 *
 * <p>A tenant may have as many requests in the queue as there are places left, so that a single one
 * fills half of the queue. Beyond that, a request takes the place of the latest one of the tenant
 * with most, if that has more even then: tenants that fill the queue have equally many places, give
 * or take one.
 *
 * <p>Thread-safe. Calls are O(tenants), except that withdrawing is O(queue).
 */
public final class AdmissionQueue {

  /** The least tokens that count of one request, so that short ones have no end of turns. */
  private static final long MIN_TOKENS = 128;

  /** The most tokens that count of one request, so that no tenant waits for ever behind one. */
  private static final long MAX_TOKENS = 131_072;

  /** The outcome of an arrival. */
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
  private final Map<String, Flow> flows = new LinkedHashMap<>();

  /** The start of the request that was started last. */
  private long lastStart;

  private int running;
  private int queued;

  /** A request that waits. */
  private record Waiting(long tokens, Runnable start, Runnable displaced) {}

  /** The requests of a tenant that wait. Without any, it stays while its start is to come. */
  private static final class Flow {

    private final String tenant;
    private final Deque<Waiting> waiting = new ArrayDeque<>();

    /** The start of its first request. */
    private long start;

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
   * @param displaced runs once instead if the request must not wait any longer, because one of
   *     another tenant has its place; on the thread that calls this for the other one
   * @return what becomes of it
   */
  public Outcome arrive(String tenant, long tokens, Runnable start, Runnable displaced) {
    long counted = Math.max(MIN_TOKENS, Math.min(tokens, MAX_TOKENS));
    Waiting arrived = new Waiting(counted, start, displaced);
    Waiting other = null;
    synchronized (this) {
      if (running < maxRunning) {
        running++;
        return Outcome.ADMITTED;
      }
      int own = tenant.isEmpty() ? 0 : waiting(tenant);
      if (own >= maxQueued - queued) {
        other = displace(own + 1);
        if (other == null) {
          return Outcome.REFUSED;
        }
      }
      Flow flow = flows.computeIfAbsent(tenant, Flow::new);
      flow.start = Math.max(flow.start, lastStart);
      flow.waiting.add(arrived);
      queued++;
    }
    if (other != null) {
      other.displaced().run();
    }
    return Outcome.WAITS;
  }

  private int waiting(String tenant) {
    Flow flow = flows.get(tenant);
    return flow == null ? 0 : flow.waiting.size();
  }

  /** Removes the latest request of the tenant with most, if it has more than a number. */
  private @Nullable Waiting displace(int least) {
    Flow largest = null;
    for (Flow flow : flows.values()) {
      if (largest == null || flow.waiting.size() > largest.waiting.size()) {
        largest = flow;
      }
    }
    if (largest == null || largest.tenant.isEmpty() || largest.waiting.size() <= least) {
      return null;
    }
    queued--;
    return largest.waiting.removeLast(); // it has others
  }

  /**
   * A waiting request does not want to start any more.
   *
   * @param start the action that it arrived with
   * @return false if the action has run or is about to; the request must then {@link #leave}
   */
  public synchronized boolean withdraw(Runnable start) {
    for (Flow flow : flows.values()) {
      if (flow.waiting.removeIf(each -> each.start().equals(start))) {
        queued--;
        forgetEmpty();
        return true;
      }
    }
    return false;
  }

  /** Forgets tenants of whose past nothing follows for their next request. */
  private void forgetEmpty() {
    if (queued == 0) {
      lastStart = 0;
      flows.clear();
    } else {
      flows.values().removeIf(flow -> flow.waiting.isEmpty() && flow.start <= lastStart);
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
    Flow first = null;
    for (Flow flow : flows.values()) {
      if (!flow.waiting.isEmpty() && (first == null || isBefore(flow, first))) {
        first = flow;
      }
    }
    if (first != null) {
      Waiting next = first.waiting.remove();
      queued--;
      lastStart = first.start;
      first.start += next.tokens();
      forgetEmpty();
      return next.start();
    }
    running--;
    return null;
  }

  private static boolean isBefore(Flow one, Flow other) {
    return one.start != other.start
        ? one.start < other.start
        : one.waiting.element().tokens() < other.waiting.element().tokens();
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
