package io.kvasir.gateway;

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
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers that DNS lists under names, as one source of {@link WantedFleet}. An engine that is
 * new in an answer is listed at once; one that two answers in a row lack is not listed any more. A
 * lookup that fails, or an answer without engines, changes nothing: checks keep requests away from
 * engines that are gone.
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
   * @param next the names
   * @param change is given what DNS lists under each; no other lookup does so meanwhile
   * @return what it returns
   */
  synchronized <T> T use(
      List<DnsWorkers> next, Function<Map<DnsWorkers, List<WorkerSpec>>, T> change) {
    Map<DnsWorkers, Listed> all = new LinkedHashMap<>();
    for (DnsWorkers each : next) {
      Listed known = names.get(each);
      Listed listed = known == null ? new Listed() : known;
      all.put(each, listed);
      look(each, listed);
    }
    names = all;
    recount();
    return change.apply(snapshot());
  }

  private Map<DnsWorkers, List<WorkerSpec>> snapshot() {
    Map<DnsWorkers, List<WorkerSpec>> snapshot = new LinkedHashMap<>();
    names.forEach((name, listed) -> snapshot.put(name, List.copyOf(listed.workers.values())));
    return snapshot;
  }

  /**
   * Begins to look names up again and again.
   *
   * @param change is given what DNS lists under each
   */
  void start(Consumer<Map<DnsWorkers, List<WorkerSpec>>> change) {
    Thread looks = new Thread(() -> watch(change), "dns-discovery");
    looks.setDaemon(true);
    looks.start();
    thread = looks;
  }

  private void watch(Consumer<Map<DnsWorkers, List<WorkerSpec>>> change) {
    try {
      while (true) {
        TimeUnit.MILLISECONDS.sleep(intervalMs);
        lookAgain(change);
      }
    } catch (InterruptedException e) {
      return; // closed
    }
  }

  /** Looks all names up, and says what they list. */
  synchronized void lookAgain(Consumer<Map<DnsWorkers, List<WorkerSpec>>> change) {
    if (names.isEmpty()) {
      return;
    }
    names.forEach(this::look);
    recount();
    try {
      change.accept(snapshot());
    } catch (RuntimeException e) { // the next lookup is another try
      LOG.error("the workers cannot be changed to those that DNS lists", e);
    }
  }

  private void recount() {
    count =
        names.values().stream()
            .flatMap(listed -> listed.workers.values().stream())
            .map(WorkerSpec::name)
            .collect(Collectors.toSet())
            .size();
  }

  private void look(DnsWorkers name, Listed listed) {
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
        add(name, listed, each);
      }
    }
    for (InetSocketAddress each : List.copyOf(listed.workers.keySet())) {
      if (!found.contains(each) && listed.misses.merge(each, 1, Integer::sum) >= MISSES) {
        listed.workers.remove(each);
        listed.misses.remove(each);
      }
    }
  }

  private static void add(DnsWorkers name, Listed listed, InetSocketAddress at) {
    try {
      listed.workers.put(at, name.at(at.getHostString(), at.getPort()));
    } catch (RuntimeException e) {
      LOG.warn("{} lists {}, which cannot be a worker: {}", name, at, Errors.reason(e));
    }
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
