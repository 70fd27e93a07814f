package io.kvasir.gateway;

import io.kvasir.exchange.EventLoop;
import io.kvasir.gateway.admin.FleetControl;
import io.kvasir.gateway.disagg.Transfers;
import io.kvasir.gateway.observe.GatewayMetrics;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.HealthChecks;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.gateway.worker.WorkerRole;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Workers that come and go while the gateway serves. One that comes is asked for its facts and its
 * blocks before it gets requests. One that goes gets no requests from then on; its connections are
 * closed when its last request has ended, or after the time that requests have when the gateway
 * stops. One whose description changes goes when the worker that takes its place has answered.
 * Where a whole list is replaced, those that serve a model go after the first new one is healthy
 * that serves it too.
 *
 * <p>Thread-safe.
 */
final class FleetChanges implements FleetControl {

  private static final Logger LOG = LoggerFactory.getLogger(FleetChanges.class);
  private static final long POLL_MS = 100;

  private final ModelFleets fleets;
  private final WorkerConnections connections;
  private final HealthChecks health;
  private final Transfers transfers;
  private final GatewayMetrics metrics;
  private final Consumer<FleetWorker> gauges;
  private final EventLoop loop;
  private final long drainMs;
  private final boolean isFixed;
  private final List<FleetWorker> leaving = new CopyOnWriteArrayList<>();

  /** Those that wait for another one to serve their models. */
  private final Set<FleetWorker> retiring = new LinkedHashSet<>();

  /** Those that serve until the worker has answered that takes their place, with that one. */
  private final Map<FleetWorker, FleetWorker> followers = new ConcurrentHashMap<>();

  private final LongAdder cut = new LongAdder();
  private int lists; // of workers, so far

  /**
   * Begins with the workers of the fleets.
   *
   * @param gauges adds the metrics of a worker
   * @param loop runs what comes later; it may take milliseconds for each worker
   * @param drainMs how long the requests of a worker that goes may go on
   * @param isFixed whether other gateways count on the same workers
   */
  FleetChanges(
      ModelFleets fleets,
      WorkerConnections connections,
      HealthChecks health,
      Transfers transfers,
      GatewayMetrics metrics,
      Consumer<FleetWorker> gauges,
      EventLoop loop,
      long drainMs,
      boolean isFixed) {
    this.fleets = fleets;
    this.connections = connections;
    this.health = health;
    this.transfers = transfers;
    this.metrics = metrics;
    this.gauges = gauges;
    this.loop = loop;
    this.drainMs = drainMs;
    this.isFixed = isFixed;
    fleets.workers().forEach(gauges);
  }

  @Override
  public List<FleetWorker> leaving() {
    return List.copyOf(leaving);
  }

  @Override
  public List<FleetWorker> coming() {
    return List.copyOf(followers.values());
  }

  /** {@return requests that did not end in time at a worker that went} */
  long cut() {
    return cut.sum();
  }

  /** {@return requests of this gateway in flight at workers, those that leave included} */
  int activeRequests() {
    return Stream.concat(fleets.workers().stream(), leaving.stream())
        .mapToInt(worker -> worker.membership().activeRequests())
        .sum();
  }

  private @Nullable FleetWorker named(String name) {
    return fleets.workers().stream()
        .filter(worker -> worker.name().equals(name))
        .findAny()
        .orElse(null);
  }

  @Override
  public synchronized Change put(WorkerSpec spec) {
    FleetWorker known = named(spec.name());
    if (known != null && keeps(known, spec)) {
      retiring.remove(known);
      return Change.NONE;
    }
    check(spec, known);
    if (known == null) {
      enter(spec);
      return Change.ADDED;
    }
    change(known, spec);
    return Change.CHANGED;
  }

  /**
   * Makes the engines behind HTTP those of a list. The caller must already have refused a list with
   * which the gateway would not start.
   *
   * @return what has changed, in words
   * @throws IllegalArgumentException if other gateways count on the same workers
   */
  synchronized String replace(List<WorkerSpec> specs) {
    requireOwn(null);
    retiring.clear();
    int list = ++lists;
    int kept = 0;
    Map<String, WorkerSpec> coming = new LinkedHashMap<>();
    specs.forEach(spec -> coming.put(spec.name(), spec));
    Map<FleetWorker, WorkerSpec> changing = new LinkedHashMap<>();
    for (FleetWorker worker : fleets.workers()) {
      if (worker.spec().isInProcess()) {
        continue;
      }
      WorkerSpec spec = coming.remove(worker.name());
      if (spec == null) {
        forgo(worker);
        retiring.add(worker);
      } else if (keeps(worker, spec)) {
        kept++;
      } else {
        changing.put(worker, spec);
      }
    }
    String changed =
        "%d workers come, %d go, %d stay"
            .formatted(coming.size() + changing.size(), retiring.size() + changing.size(), kept);
    coming.values().forEach(this::enter);
    changing.forEach(this::change);
    retire(list, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(drainMs));
    return changed;
  }

  /** Lets all go that need not wait, or no longer, and looks again if some do. */
  private synchronized void retire(int list, long endNs) {
    if (list != lists) {
      return;
    }
    boolean late = System.nanoTime() - endNs >= 0;
    for (FleetWorker worker : List.copyOf(retiring)) {
      if (late || !isNeeded(worker)) {
        leave(worker);
      }
    }
    if (!retiring.isEmpty()) {
      loop.after(POLL_MS, () -> retire(list, endNs));
    }
  }

  /** Whether no other worker serves one of its models, and one that may is still to be asked. */
  private boolean isNeeded(FleetWorker worker) {
    List<FleetWorker> others =
        Stream.concat(fleets.workers().stream(), followers.values().stream())
            .filter(other -> !retiring.contains(other) && canReplace(other, worker))
            .toList();
    return worker.healthy()
        && others.stream().anyMatch(other -> !other.hasAnswered())
        && !worker.models().stream().allMatch(model -> isServed(model, others));
  }

  /** Whether a description is that of a worker, but for its weight. */
  private static boolean isSame(FleetWorker worker, WorkerSpec spec) {
    return worker.spec().withWeight(1).equals(spec.withWeight(1));
  }

  private static boolean canReplace(FleetWorker other, FleetWorker worker) {
    return !other.membership().cordoned()
        && (other.role() == worker.role() || other.role() == WorkerRole.BOTH);
  }

  private static boolean isServed(String model, List<FleetWorker> among) {
    return among.stream().anyMatch(each -> each.healthy() && each.models().contains(model));
  }

  private void enter(WorkerSpec spec) {
    FleetWorker worker = connections.open(spec);
    fleets.add(worker);
    gauges.accept(worker);
    health.add(worker, () -> {});
    LOG.info("worker {} comes", worker.name());
  }

  /**
   * Whether a worker is as described, or is about to be, but for its weight, which it gets. A
   * change that is taken back ends.
   */
  private boolean keeps(FleetWorker worker, WorkerSpec spec) {
    FleetWorker next = followers.get(worker);
    if (next == null || !isSame(next, spec)) {
      if (!isSame(worker, spec)) {
        return false;
      }
      forgo(worker);
    }
    weigh(worker, spec.weight());
    return true;
  }

  /** Another worker takes the place of one, which serves until the other has answered. */
  private void change(FleetWorker worker, WorkerSpec spec) {
    FleetWorker next = connections.open(spec);
    retiring.remove(worker);
    forgo(worker);
    next.membership().cordon(worker.membership().cordoned());
    next.membership().follow(worker);
    followers.put(worker, next);
    health.add(next, () -> loop.execute(() -> relieve(worker, next)));
    LOG.info("worker {} changes", worker.name());
    if (worker.healthy() && !worker.membership().cordoned()) {
      loop.after(drainMs, () -> relieve(worker, next));
    } else {
      relieve(worker, next);
    }
  }

  /** A worker takes the place of another, if it still is to. */
  private synchronized void relieve(FleetWorker worker, FleetWorker next) {
    if (followers.remove(worker, next)) {
      fleets.add(next);
      leave(worker);
      gauges.accept(next);
      next.membership().follow(null);
    }
  }

  /** No worker takes the place of one any more. */
  private void forgo(FleetWorker worker) {
    FleetWorker next = followers.remove(worker);
    if (next != null) {
      end(next);
    }
  }

  /** Refuses what a start with the same workers would refuse. */
  private void check(WorkerSpec spec, @Nullable FleetWorker known) {
    requireOwn(known);
    WorkerRole role = spec.disagg().role();
    List<FleetWorker> others = new ArrayList<>(fleets.workers());
    others.addAll(followers.values());
    for (FleetWorker other : others) {
      boolean shares =
          !other.name().equals(spec.name())
              && other.role() != WorkerRole.BOTH
              && role != WorkerRole.BOTH;
      if (shares && other.spec().disagg().dialect() != spec.disagg().dialect()) {
        throw new IllegalArgumentException(
            "disagg must be %s, which worker %s of role %s has: each protocol needs a gateway of its own"
                .formatted(other.spec().disagg().dialect().id(), other.name(), other.role().id()));
      }
    }
  }

  private void requireOwn(@Nullable FleetWorker worker) {
    if (isFixed) {
      throw new IllegalArgumentException(
          "the workers are fixed with --router-replica-sync: all gateways must have the same");
    }
    if (worker != null && worker.spec().isInProcess()) {
      throw new IllegalArgumentException("embedded ranks go only with their gateway");
    }
  }

  @Override
  public synchronized boolean cordon(String name, boolean cordoned) {
    FleetWorker worker = named(name);
    if (worker == null) {
      return false;
    }
    if (worker.membership().cordoned() != cordoned) {
      worker.membership().cordon(cordoned);
      LOG.info("worker {} takes {} new requests", name, cordoned ? "no" : "again");
    }
    FleetWorker next = followers.get(worker);
    if (next != null && cordoned) {
      next.membership().cordon(true);
      relieve(worker, next); // nothing is left to wait for
    }
    return true;
  }

  @Override
  public synchronized boolean weigh(String name, double weight) {
    FleetWorker worker = named(name);
    if (worker == null) {
      return false;
    }
    weigh(worker, weight);
    LOG.info("worker {} has weight {}", name, weight);
    return true;
  }

  private void weigh(FleetWorker worker, double weight) {
    worker.membership().weigh(weight);
    FleetWorker next = followers.get(worker);
    if (next != null) {
      next.membership().weigh(weight);
    }
  }

  @Override
  public synchronized boolean remove(String name) {
    FleetWorker worker = named(name);
    if (worker == null) {
      return false;
    }
    requireOwn(worker);
    leave(worker);
    return true;
  }

  private void leave(FleetWorker worker) {
    LOG.info(
        "worker {} goes: {} requests have {} s to end",
        worker.name(),
        worker.membership().activeRequests(),
        TimeUnit.MILLISECONDS.toSeconds(drainMs));
    forgo(worker);
    retiring.remove(worker);
    end(worker);
    metrics.forgetWorker(worker.name());
  }

  private void end(FleetWorker worker) {
    leaving.add(worker);
    fleets.remove(worker);
    transfers.forgetPeer(worker);
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(drainMs);
    loop.execute(() -> linger(worker, endNs, false));
  }

  /**
   * A request that was placed before the worker went can be sent a moment later: only the second
   * look without requests counts.
   */
  private void linger(FleetWorker worker, long endNs, boolean wasIdle) {
    int active = worker.membership().activeRequests();
    boolean late = System.nanoTime() - endNs >= 0;
    if ((active > 0 || !wasIdle) && !late) {
      loop.after(POLL_MS, () -> linger(worker, endNs, active == 0));
      return;
    }
    if (active > 0) {
      cut.add(active);
      LOG.warn("worker {}: {} requests did not end in time and are cut", worker.name(), active);
    }
    worker.upstream().close();
    leaving.remove(worker);
    loop.after(POLL_MS, () -> forget(worker.name())); // its last requests count until then
    LOG.info("worker {} has gone", worker.name());
  }

  private synchronized void forget(String name) {
    if (named(name) == null) {
      metrics.forgetWorker(name);
    }
  }
}
