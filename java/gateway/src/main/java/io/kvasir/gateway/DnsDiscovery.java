package io.kvasir.gateway;

import io.kvasir.gateway.admin.FleetControl;
import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets workers come and go with what DNS lists under their names. An engine that is new in an
 * answer comes; one that two answers in a row lack goes. A lookup that fails, or an answer without
 * engines, changes nothing: checks keep requests away from engines that are gone. What operators
 * change stays: a worker that they have removed comes again only after DNS has not listed it. An
 * engine under several descriptions is as one of them says until DNS no longer lists it there.
 *
 * <p>Thread-safe. Owns a thread, because lookups block.
 */
final class DnsDiscovery implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DnsDiscovery.class);

  /** Answers in a row without an engine after which it goes. */
  private static final int MISSES = 2;

  private final NameLookup lookup;
  private final long intervalMs;

  /** Engines by description; guarded by this. */
  private Map<DnsWorkers, Listed> names = new LinkedHashMap<>();

  /** Workers that have an address, by name; guarded by this. */
  private Set<String> fixed = Set.of();

  /** Workers that DNS lists: to be read without the lock, which lookups hold. */
  private volatile int count;

  private final LongAdder failures = new LongAdder();
  private volatile @Nullable Thread thread;

  /** What DNS lists under a name. */
  private static final class Listed {

    /** Workers by host and port. */
    final Map<InetSocketAddress, WorkerSpec> workers = new LinkedHashMap<>();

    /** Answers in a row without an engine. */
    final Map<InetSocketAddress, Integer> misses = new HashMap<>();

    boolean failed; // the last time
  }

  /**
   * Begins without names.
   *
   * @param intervalMs time between two lookups of a name, in milliseconds
   */
  DnsDiscovery(NameLookup lookup, long intervalMs) {
    this.lookup = lookup;
    this.intervalMs = intervalMs;
  }

  /**
   * Makes the names those of a list, and looks all up.
   *
   * @param own workers that have an address
   * @param next the names
   * @param change is given these workers and those of all names; no other lookup changes workers
   *     meanwhile
   * @return what it returns
   */
  synchronized <T> T use(
      List<WorkerSpec> own, List<DnsWorkers> next, Function<List<WorkerSpec>, T> change) {
    Map<DnsWorkers, Listed> all = new LinkedHashMap<>();
    Map<String, WorkerSpec> workers = new LinkedHashMap<>();
    own.forEach(spec -> workers.put(spec.name(), spec));
    Set<String> addressed = Set.copyOf(workers.keySet());
    for (DnsWorkers each : next) {
      Listed known = names.get(each);
      Listed listed = known == null ? new Listed() : known;
      all.put(each, listed);
      look(each, listed, null);
      listed.workers.values().forEach(spec -> workers.putIfAbsent(spec.name(), spec));
    }
    names = all;
    fixed = addressed;
    recount();
    return change.apply(List.copyOf(workers.values()));
  }

  /** Begins to look names up again and again. */
  void start(FleetControl control) {
    Thread looks = new Thread(() -> watch(control), "dns-discovery");
    looks.setDaemon(true);
    looks.start();
    thread = looks;
  }

  private void watch(FleetControl control) {
    try {
      while (true) {
        TimeUnit.MILLISECONDS.sleep(intervalMs);
        lookAgain(control);
      }
    } catch (InterruptedException e) {
      return; // closed
    }
  }

  /** Looks all names up, and changes the workers. */
  synchronized void lookAgain(FleetControl control) {
    names.forEach(
        (name, listed) -> {
          try {
            look(name, listed, control);
          } catch (RuntimeException e) { // the other names are looked up
            LOG.error("the workers of {} cannot be changed", name, e);
          }
        });
    recount();
  }

  private void recount() {
    count =
        names.values().stream()
            .flatMap(listed -> listed.workers.values().stream())
            .map(WorkerSpec::name)
            .collect(Collectors.toSet())
            .size();
  }

  /** Looks a name up. Without a control, what it lists changes, but no worker. */
  private void look(DnsWorkers name, Listed listed, @Nullable FleetControl control) {
    List<InetSocketAddress> found;
    try {
      found = lookup.find(name);
      if (listed.failed) {
        LOG.info("{} is found again", name);
      }
      listed.failed = false;
    } catch (IOException | RuntimeException e) {
      if (!listed.failed) {
        LOG.warn("{} is not found, its workers stay: {}", name, Errors.reason(e));
      }
      listed.failed = true;
      failures.increment();
      return;
    }
    for (InetSocketAddress each : found) {
      listed.misses.remove(each);
      if (!listed.workers.containsKey(each)) {
        come(name, listed, each, control);
      }
    }
    for (Map.Entry<InetSocketAddress, WorkerSpec> each : Map.copyOf(listed.workers).entrySet()) {
      InetSocketAddress at = each.getKey();
      if (!found.contains(at) && listed.misses.merge(at, 1, Integer::sum) >= MISSES) {
        if (control != null) {
          go(listed, each.getValue(), control);
        }
        listed.workers.remove(at);
        listed.misses.remove(at);
      }
    }
  }

  private void come(
      DnsWorkers name, Listed listed, InetSocketAddress at, @Nullable FleetControl control) {
    try {
      WorkerSpec worker = name.at(at.getHostString(), at.getPort());
      if (control != null && !fixed.contains(worker.name()) && other(listed, worker) == null) {
        control.put(worker);
      }
      listed.workers.put(at, worker);
    } catch (RuntimeException e) {
      LOG.warn("{} lists {}, which cannot be a worker: {}", name, at, Errors.reason(e));
    }
  }

  /** A worker that its name lists no longer goes, or is from now on what another name says. */
  private void go(Listed from, WorkerSpec gone, FleetControl control) {
    if (fixed.contains(gone.name())) {
      return;
    }
    WorkerSpec other = other(from, gone);
    if (other == null) {
      control.remove(gone.name());
    } else if (!other.equals(gone)) {
      control.put(other);
    }
  }

  /** The worker of the same engine that another name lists; null for none. */
  private @Nullable WorkerSpec other(Listed listed, WorkerSpec worker) {
    return names.values().stream()
        .filter(each -> each != listed)
        .flatMap(each -> each.workers.values().stream())
        .filter(each -> each.name().equals(worker.name()))
        .findFirst()
        .orElse(null);
  }

  /** {@return the workers that DNS lists} */
  int workers() {
    return count;
  }

  /** {@return lookups that failed} */
  long failures() {
    return failures.sum();
  }

  /** Ends the lookups. Workers stay. */
  @Override
  public void close() {
    Thread looks = thread;
    if (looks != null) {
      looks.interrupt();
    }
  }
}
