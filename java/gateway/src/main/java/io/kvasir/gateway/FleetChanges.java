package io.kvasir.gateway;

import io.kvasir.exchange.EventLoop;
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
 * Takes the steps from the workers that are there to those that are wanted, while the gateway
 * serves. One that comes is asked for its facts and its blocks before it gets requests. One that
 * goes gets no requests from then on; its connections are closed when its last request has ended,
 * or after the time that requests have when the gateway stops. One whose description changes goes
 * when the worker that takes its place has answered. Where a whole list is replaced, those that
 * serve a model go after the first new one is healthy that serves it too.
 *
 * <p>Thread-safe.
 */
final class FleetChanges {

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

  /** {@return workers that have been removed and whose requests go on} */
  List<FleetWorker> leaving() {
    return List.copyOf(leaving);
  }

  /** {@return workers that take the place of others of their names once they have answered} */
  List<FleetWorker> coming() {
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

  /** {@return the worker of a name; null for none} */
  @Nullable FleetWorker named(String name) {
    return fleets.workers().stream()
        .filter(worker -> worker.name().equals(name))
        .findAny()
        .orElse(null);
  }

  /**
   * Makes the engines behind HTTP those that are wanted, in as few steps as possible. A step that
   * fails keeps none of the others from being done, and is tried again the next time.
   *
   * @param gently whether workers that are not wanted any more serve until others serve their
   *     models; those that have begun to wait do so in any case
   * @return what has changed, in words
   */
  synchronized String become(WantedFleet wanted, boolean gently) {
    int kept = 0;
    Map<String, WorkerSpec> coming = wanted.workers();
    Map<FleetWorker, WorkerSpec> changing = new LinkedHashMap<>();
    List<FleetWorker> going = new ArrayList<>();
    for (FleetWorker worker : fleets.workers()) {
      if (worker.spec().isInProcess()) {
        continue;
      }
      WorkerSpec spec = coming.remove(worker.name());
      if (spec == null) {
        going.add(worker);
      } else if (keeps(worker, spec)) {
        retiring.remove(worker);
        cordon(worker, wanted.cordoned().contains(worker.name()));
        kept++;
      } else {
        changing.put(worker, spec);
      }
    }
    String changed =
        "%d workers come, %d go, %d stay"
            .formatted(coming.size() + changing.size(), going.size() + changing.size(), kept);
    coming.forEach((name, spec) -> step(name, () -> enter(spec, wanted.cordoned().contains(name))));
    changing.forEach((worker, spec) -> step(worker.name(), () -> change(worker, spec)));
    if (gently) {
      going.forEach(this::forgo);
      retiring.addAll(going);
      retire(++lists, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(drainMs));
    } else {
      going.stream()
          .filter(worker -> !retiring.contains(worker))
          .forEach(worker -> step(worker.name(), () -> leave(worker)));
    }
    return changed;
  }

  private static void step(String name, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) { // a router of its own
      LOG.error("worker {} cannot be changed", name, e);
    }
  }

  /** A worker goes at once, if it is still there. */
  synchronized void dismiss(FleetWorker worker) {
    if (fleets.workers().contains(worker)) {
      leave(worker);
    }
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

  private void enter(WorkerSpec spec, boolean cordoned) {
    FleetWorker worker = connections.open(spec);
    worker.membership().cordon(cordoned);
    fleets.add(worker);
    gauges.accept(worker);
    health.add(worker, () -> {});
    LOG.info("worker {} comes", worker.name());
  }

  /** Whether a worker is as described, or is about to be, but for its weight. */
  synchronized boolean isOrBecomes(FleetWorker worker, WorkerSpec spec) {
    FleetWorker next = followers.get(worker);
    return isSame(worker, spec) || (next != null && isSame(next, spec));
  }

  /** Whether that is so; then it gets its weight. A change that is taken back ends. */
  private boolean keeps(FleetWorker worker, WorkerSpec spec) {
    if (!isOrBecomes(worker, spec)) {
      return false;
    }
    FleetWorker next = followers.get(worker);
    if (next != null && !isSame(next, spec)) {
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

  /**
   * Refuses changes where workers are fixed, and those of a worker in this process.
   *
   * @param worker the worker; null for those behind HTTP
   * @throws IllegalArgumentException if it can neither come nor go
   */
  void requireOwn(@Nullable FleetWorker worker) {
    if (isFixed) {
      throw new IllegalArgumentException(
          "the workers are fixed with --router-replica-sync: all gateways must have the same");
    }
    if (worker != null && worker.spec().isInProcess()) {
      throw new IllegalArgumentException("embedded ranks go only with their gateway");
    }
  }

  /** Keeps new requests away from a worker, or no longer. */
  synchronized void cordon(FleetWorker worker, boolean cordoned) {
    if (worker.membership().cordoned() != cordoned) {
      worker.membership().cordon(cordoned);
      LOG.info("worker {} takes {} new requests", worker.name(), cordoned ? "no" : "again");
    }
    FleetWorker next = followers.get(worker);
    if (next != null && cordoned) {
      next.membership().cordon(true);
      relieve(worker, next); // nothing is left to wait for
    }
  }

  /** Changes a worker's weight relative to the others. */
  synchronized void weigh(FleetWorker worker, double weight) {
    if (worker.membership().weight() != weight) {
      worker.membership().weigh(weight);
      LOG.info("worker {} has weight {}", worker.name(), weight);
    }
    FleetWorker next = followers.get(worker);
    if (next != null) {
      next.membership().weigh(weight);
    }
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
