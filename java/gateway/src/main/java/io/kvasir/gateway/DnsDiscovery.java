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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets workers come and go with what DNS lists under their names. An engine that is new in an
 * answer comes; one that two answers in a row lack goes. A lookup that fails, or an answer without
 * engines, changes nothing: checks keep requests away from engines that are gone. What operators
 * change stays: a worker that they have removed comes again only after DNS has not listed it.
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
   * @param fixed workers that have an address
   * @param next the names
   * @param change is given these workers and those of all names; no other lookup changes workers
   *     meanwhile
   * @return what it returns
   */
  synchronized <T> T use(
      List<WorkerSpec> fixed, List<DnsWorkers> next, Function<List<WorkerSpec>, T> change) {
    Map<DnsWorkers, Listed> all = new LinkedHashMap<>();
    Map<String, WorkerSpec> workers = new LinkedHashMap<>();
    fixed.forEach(spec -> workers.put(spec.name(), spec));
    for (DnsWorkers each : next) {
      Listed known = names.get(each);
      Listed listed = known == null ? new Listed() : known;
      all.put(each, listed);
      look(each, listed, null);
      listed.workers.values().forEach(spec -> workers.putIfAbsent(spec.name(), spec));
    }
    names = all;
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
    names.forEach((name, listed) -> look(name, listed, control));
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
    } catch (IOException e) {
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
    for (InetSocketAddress each : List.copyOf(listed.workers.keySet())) {
      if (!found.contains(each) && listed.misses.merge(each, 1, Integer::sum) == MISSES) {
        WorkerSpec gone = listed.workers.remove(each);
        listed.misses.remove(each);
        if (control != null && gone != null) {
          control.remove(gone.name());
        }
      }
    }
  }

  private static void come(
      DnsWorkers name, Listed listed, InetSocketAddress at, @Nullable FleetControl control) {
    try {
      WorkerSpec worker = name.at(at.getHostString(), at.getPort());
      if (control != null) {
        control.put(worker);
      }
      listed.workers.put(at, worker);
    } catch (IllegalArgumentException e) {
      LOG.warn("{} lists {}, which cannot be a worker: {}", name, at, Errors.reason(e));
    }
  }

  /** {@return the workers that DNS lists} */
  synchronized int workers() {
    return names.values().stream().mapToInt(listed -> listed.workers.size()).sum();
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
