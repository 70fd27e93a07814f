package io.kvasir.gateway;

import io.kvasir.gateway.admin.FleetControl;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what the sources of workers want, the settings, DNS and operators, and has the workers
 * changed to it whenever one of them changes. What is refused changes nothing.
 *
 * <p>Thread-safe.
 */
final class FleetDirector implements FleetControl {

  private static final Logger LOG = LoggerFactory.getLogger(FleetDirector.class);

  private final FleetChanges changes;

  /* Guarded by this, as is that the workers are changed to it. */
  private WantedFleet wanted;
  private Set<WorkerSpec> refused = Set.of();

  /**
   * Begins.
   *
   * @param wanted what the workers are now
   */
  FleetDirector(WantedFleet wanted, FleetChanges changes) {
    this.wanted = wanted;
    this.changes = changes;
    noteMisfits();
  }

  @Override
  public List<FleetWorker> leaving() {
    return changes.leaving();
  }

  @Override
  public List<FleetWorker> coming() {
    return changes.coming();
  }

  private String become(WantedFleet next, boolean gently) {
    wanted = next;
    noteMisfits();
    return changes.become(next, gently);
  }

  private void noteMisfits() {
    Map<WorkerSpec, String> misfits = wanted.misfits();
    misfits.forEach(
        (spec, why) -> {
          if (!refused.contains(spec)) {
            LOG.warn("DNS lists {}, which cannot be a worker: {}", spec.name(), why);
          }
        });
    refused = new HashSet<>(misfits.keySet());
  }

  /**
   * The settings have been read again. The caller must already have refused those with which the
   * gateway would not start. Workers that go serve until others serve their models.
   *
   * @return what has changed, in words
   * @throws IllegalArgumentException if other gateways count on the same workers
   */
  synchronized String onSettings(
      List<WorkerSpec> addressed, Map<DnsWorkers, List<WorkerSpec>> listed) {
    changes.requireOwn(null);
    return become(wanted.withSettings(addressed, listed), true);
  }

  /** DNS has answered. */
  synchronized void onListed(Map<DnsWorkers, List<WorkerSpec>> listed) {
    changes.requireOwn(null);
    String unused = become(wanted.withListed(listed), false);
  }

  @Override
  public synchronized Change put(WorkerSpec spec) {
    FleetWorker known = changes.named(spec.name());
    WantedFleet next = wanted.with(spec);
    Change change =
        known == null
            ? Change.ADDED
            : changes.isOrBecomes(known, spec) ? Change.NONE : Change.CHANGED;
    if (change != Change.NONE) {
      changes.requireOwn(known);
    }
    WantedFleet before = wanted;
    String unused = become(next, false);
    if (changes.named(spec.name()) == null) {
      wanted = before;
      throw new IllegalStateException("worker " + spec.name() + " cannot be added");
    }
    return change;
  }

  @Override
  public synchronized boolean remove(String name) {
    FleetWorker worker = changes.named(name);
    if (worker == null) {
      return false;
    }
    changes.requireOwn(worker);
    String unused = become(wanted.without(name), false);
    changes.dismiss(worker); // one that only waited for others
    return true;
  }

  @Override
  public synchronized boolean cordon(String name, boolean cordoned) {
    FleetWorker worker = changes.named(name);
    if (worker == null) {
      return false;
    }
    wanted = wanted.cordoned(name, cordoned);
    changes.cordon(worker, cordoned); // also one of this process, or one that waits to go
    return true;
  }

  @Override
  public synchronized boolean weigh(String name, double weight) {
    FleetWorker worker = changes.named(name);
    if (worker == null) {
      return false;
    }
    wanted = wanted.weighed(name, weight);
    changes.weigh(worker, weight);
    return true;
  }
}
