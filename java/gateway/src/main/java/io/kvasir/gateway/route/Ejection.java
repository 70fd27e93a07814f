package io.kvasir.gateway.route;

import java.util.Collection;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which workers of a fleet rest because they fail, as Envoy's outlier detection does: at
 * most a share of them, and none when too few are left. A fault that many workers have is seldom
 * theirs, and a worker that may fail is better than none. Workers whose health checks fail as well,
 * or that accept no connections, rest without a share.
 *
 * <p>Thread-safe. Calls are O(workers); the lock is held for one look at each breaker, and no
 * breaker's lock is held when it is taken.
 */
public final class Ejection {

  private static final Logger LOG = LoggerFactory.getLogger(Ejection.class);
  private static final int PERCENT = 100;

  private final BreakerSettings settings;

  /**
   * Creates the decisions of one gateway.
   *
   * @param settings the shares
   */
  public Ejection(BreakerSettings settings) {
    this.settings = settings;
  }

  /**
   * A request failed by a worker's fault. Opens the worker's breaker if it fails too often and the
   * share of its fleet allows it.
   *
   * @param worker the worker
   * @param sent the value of {@link Breaker#onSent}
   * @param fault how it failed
   * @param fleet the workers that the request could go to
   * @param nowNs the current time, in nanoseconds
   * @return what was counted
   */
  Breaker.Failure onFailure(
      FleetWorker worker,
      long sent,
      RequestFault fault,
      Collection<FleetWorker> fleet,
      long nowNs) {
    if (fault.unconnected()) {
      worker.breaker().onUnconnected(nowNs);
    }
    Breaker.Failure failure = worker.breaker().onFailure(sent, fault.whole(), nowNs);
    if (worker.breaker().shouldOpen(nowNs) && eject(worker, fleet, nowNs)) {
      LOG.warn("worker {} fails: {}; its breaker opens", worker.name(), fault.logged());
    }
    return failure;
  }

  private synchronized boolean eject(
      FleetWorker worker, Collection<FleetWorker> fleet, long nowNs) {
    int ejected = 0;
    for (FleetWorker other : fleet) {
      ejected += other.healthy() && other.breaker().isOpen() ? 1 : 0;
    }
    int most = Math.max(1, fleet.size() * settings.maxEjectionPercent() / PERCENT);
    boolean allowed = !worker.healthy() || worker.breaker().isUnreachable(nowNs) || ejected < most;
    return allowed && worker.breaker().open(nowNs);
  }

  /**
   * Whether so few workers are left that the breakers of healthy workers are ignored, and that
   * others take requests although their health checks are late or fail. Workers that an operator
   * keeps requests away from do not count.
   *
   * @param fleet the workers that a request could go to
   * @param model the model that they must serve; empty for any
   * @return whether fewer workers than the panic threshold are healthy with a closed breaker
   */
  public boolean panics(Collection<FleetWorker> fleet, String model) {
    int left = 0;
    int all = 0;
    for (FleetWorker worker : fleet) {
      all += worker.membership().cordoned() ? 0 : 1;
      left += isLeft(worker) ? 1 : 0;
    }
    if (left == all) { // without a look at their models
      return false;
    }
    left = 0;
    all = 0;
    for (FleetWorker worker : fleet) {
      Set<String> models = worker.models();
      boolean counts = model.isEmpty() ? !models.isEmpty() : models.contains(model);
      if (counts && !worker.membership().cordoned()) {
        all++;
        left += isLeft(worker) ? 1 : 0;
      }
    }
    return (long) left * PERCENT < (long) all * settings.panicPercent();
  }

  private static boolean isLeft(FleetWorker worker) {
    return worker.healthy() && !worker.membership().cordoned() && !worker.breaker().isOpen();
  }
}
