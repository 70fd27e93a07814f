package io.kvasir.gateway.route;

import io.kvasir.exchange.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds the requests that a gateway serves at a time. Requests beyond that wait, up to a second
 * bound: those of a tenant in arrival order, the tenants in turn.
 *
 * <p>Turns are those of start-time fair queueing (Goyal, Vin and Cheng, 1996) over the tokens that
 * are expected of requests. A tenant's next request has a start: where the tenant's request before
 * it ends, but not before the least start when a request was started last. The request with the
 * least start is next. So tenants that always have requests here start equally many tokens, and a
 * tenant that has had less than that starts next, however many requests of others wait.
 *
 * <p>No tenant takes all places while others were here within a minute and now have no request: a
 * place is kept for each of them, up to a quarter of all. Only a tenant without a running request
 * starts one in a kept place. So a tenant that sends now and then need not wait for the end of
 * another one's long requests.
 *
 * <p>A tenant may have as many requests in the queue as there are places left, so that a single one
 * fills half of the queue. Beyond that, a request takes the place of the latest one of the tenant
 * with most, if that has more even then: tenants that fill the queue have equally many places, give
 * or take one.
 *
 * <p>Thread-safe. Calls are O(1) while nothing waits, else O(tenants); withdrawing is O(queue).
 */
public final class AdmissionQueue {

  private static final Logger LOG = LoggerFactory.getLogger(AdmissionQueue.class);

  /** The least tokens that count of one request, so that short ones have no end of turns. */
  private static final long MIN_TOKENS = 128;

  /** The most tokens that count of one request, so that no tenant waits for ever behind one. */
  private static final long MAX_TOKENS = 131_072;

  /** At most one place in so many is kept. */
  private static final int ONE_KEPT_IN = 4;

  /** For how long a place is kept for a tenant that has no request. */
  private static final long KEPT_NS = 60_000_000_000L;

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
  private final LongSupplier clockNs;
  private final EventLoop loop;

  // Guarded by this.
  private final Map<String, Flow> flows = new LinkedHashMap<>();

  /** Tenants for which a place is kept, those first that have had no request for longest. */
  private final Set<Flow> idle = new LinkedHashSet<>();

  /** The least start of the requests that waited when one was started last. */
  private long lastStart;

  private int running;
  private int queued;

  /** Whether a look at the tenants that are idle is planned. */
  private boolean planned;

  /** A request that waits. */
  private record Waiting(long tokens, Runnable start, Runnable displaced) {}

  /** A tenant. Without requests, it stays while it is idle or while its start is to come. */
  private static final class Flow {

    private final String tenant;
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private int running;
    private long idleNs;

    /** The start of its first waiting request. */
    private long start;

    Flow(String tenant) {
      this.tenant = tenant;
    }

    boolean isEmpty() {
      return running == 0 && waiting.isEmpty();
    }
  }

  /**
   * Creates an admission without requests.
   *
   * @param maxRunning requests served at a time, at least 1
   * @param maxQueued requests that may wait, at least 0
   * @param clockNs the time in nanoseconds
   * @param loop starts requests whose place is kept no longer
   */
  public AdmissionQueue(int maxRunning, int maxQueued, LongSupplier clockNs, EventLoop loop) {
    this.maxRunning = maxRunning;
    this.maxQueued = maxQueued;
    this.clockNs = clockNs;
    this.loop = loop;
  }

  /**
   * A request has arrived.
   *
   * @param tenant whose it is; empty where there are no tenants
   * @param tokens tokens that are expected of it, at least 0
   * @param start runs once if the request waits and may start, on the thread whose call made that
   *     possible or on the loop; the request must then {@link #leave}
   * @param displaced runs once instead if the request must not wait any longer, because one of
   *     another tenant has its place; on the thread that calls this for the other one
   * @return what becomes of it
   */
  public Outcome arrive(String tenant, long tokens, Runnable start, Runnable displaced) {
    long counted = Math.max(MIN_TOKENS, Math.min(tokens, MAX_TOKENS));
    List<Runnable> actions = new ArrayList<>(0);
    Outcome outcome = arrive(tenant, new Waiting(counted, start, displaced), actions);
    run(actions);
    return outcome;
  }

  /** Runs all of them, also where one fails. */
  private static void run(List<Runnable> actions) {
    for (Runnable action : actions) {
      try {
        action.run();
      } catch (RuntimeException e) {
        LOG.warn("A request that waited cannot go on", e);
      }
    }
  }

  private synchronized Outcome arrive(String tenant, Waiting arrived, List<Runnable> actions) {
    forgetIdle();
    start(actions); // in places that were kept
    Flow flow = flows.computeIfAbsent(tenant, Flow::new);
    idle.remove(flow);
    if (mayStart(flow)) {
      flow.running++;
      running++;
      if (queued > 0) {
        flow.start = Math.max(flow.start, lastStart) + arrived.tokens();
      }
      return Outcome.ADMITTED;
    }
    int own = tenant.isEmpty() ? 0 : flow.waiting.size();
    if (own >= maxQueued - queued) {
      Waiting other = displace(own + 1);
      if (other == null) {
        settle(flow);
        return Outcome.REFUSED;
      }
      actions.add(other.displaced());
    }
    flow.start = Math.max(flow.start, lastStart);
    flow.waiting.add(arrived);
    queued++;
    plan(actions);
    return Outcome.WAITS;
  }

  private boolean mayStart(Flow flow) {
    int kept = flow.running == 0 ? 0 : Math.min(idle.size(), maxRunning / ONE_KEPT_IN);
    return running < maxRunning - kept;
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
  public boolean withdraw(Runnable start) {
    List<Runnable> actions = new ArrayList<>(0);
    boolean withdrawn = withdraw(start, actions);
    run(actions);
    return withdrawn;
  }

  private synchronized boolean withdraw(Runnable start, List<Runnable> actions) {
    for (Flow flow : flows.values()) {
      if (flow.waiting.removeIf(each -> each.start().equals(start))) {
        queued--;
        settle(flow);
        forgetPast();
        forgetIdle();
        start(actions);
        plan(actions);
        return true;
      }
    }
    return false;
  }

  /** A tenant without requests is idle from now on. */
  private void settle(Flow flow) {
    if (!flow.isEmpty()) {
      return;
    }
    if (!flow.tenant.isEmpty()) {
      flow.idleNs = clockNs.getAsLong();
      idle.add(flow);
    } else if (queued == 0) {
      flows.remove(flow.tenant);
    }
  }

  private void forgetIdle() {
    if (idle.isEmpty()) {
      return;
    }
    long nowNs = clockNs.getAsLong();
    for (Iterator<Flow> each = idle.iterator(); each.hasNext(); ) {
      Flow flow = each.next();
      if (nowNs - flow.idleNs < KEPT_NS) {
        return;
      }
      each.remove();
      if (flow.start <= lastStart) {
        flows.remove(flow.tenant);
      }
    }
  }

  /** Forgets what is without effect on the next requests. */
  private void forgetPast() {
    if (queued == 0) {
      lastStart = 0;
      flows.values().forEach(flow -> flow.start = 0);
    }
    flows
        .values()
        .removeIf(flow -> flow.isEmpty() && flow.start <= lastStart && !idle.contains(flow));
  }

  /**
   * A request that was admitted is over. Those start that there is room for.
   *
   * @param tenant whose it was
   * @throws IllegalStateException if the tenant has no request in service
   */
  public void leave(String tenant) {
    List<Runnable> actions = new ArrayList<>(1);
    leave(tenant, actions);
    run(actions);
  }

  private synchronized void leave(String tenant, List<Runnable> actions) {
    Flow flow = flows.get(tenant);
    if (flow == null || flow.running == 0) {
      throw new IllegalStateException("no request of tenant '" + tenant + "' is in service");
    }
    flow.running--;
    running--;
    settle(flow);
    forgetIdle();
    start(actions);
    plan(actions);
  }

  /** While a request waits for a kept place, that is looked at when it may be free. */
  private void plan(List<Runnable> actions) {
    if (planned || queued == 0 || running == maxRunning || idle.isEmpty()) {
      return;
    }
    planned = true;
    long keptNs = idle.iterator().next().idleNs + KEPT_NS - clockNs.getAsLong();
    long delayMs = Math.max(0, TimeUnit.NANOSECONDS.toMillis(keptNs)) + 1;
    actions.add(() -> loop.after(delayMs, this::look));
  }

  private void look() {
    List<Runnable> actions = new ArrayList<>(1);
    look(actions);
    run(actions);
  }

  private synchronized void look(List<Runnable> actions) {
    planned = false;
    forgetIdle();
    start(actions);
    plan(actions);
  }

  /** Starts the requests that there is room for. */
  private void start(List<Runnable> actions) {
    boolean any = false;
    for (Flow first = next(); first != null; first = next()) {
      lastStart = Math.max(lastStart, leastStart());
      Waiting next = first.waiting.remove();
      queued--;
      first.running++;
      running++;
      first.start += next.tokens();
      actions.add(next.start());
      any = true;
    }
    if (any) {
      forgetPast();
    }
  }

  private @Nullable Flow next() {
    if (queued == 0 || running == maxRunning) {
      return null;
    }
    Flow first = null;
    for (Flow flow : flows.values()) {
      if (!flow.waiting.isEmpty() && mayStart(flow) && (first == null || isBefore(flow, first))) {
        first = flow;
      }
    }
    return first;
  }

  /** Of all that wait, those included that only kept places keep from starting. */
  private long leastStart() {
    long least = Long.MAX_VALUE;
    for (Flow flow : flows.values()) {
      if (!flow.waiting.isEmpty()) {
        least = Math.min(least, flow.start);
      }
    }
    return least;
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
