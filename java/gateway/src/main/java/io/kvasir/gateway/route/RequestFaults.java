package io.kvasir.gateway.route;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whose fault the failures of one request's attempts are. A request that fails the same way at two
 * workers is its own fault: neither failure counts against a worker. A worker has served a request
 * at the end of the answer, not at its first byte.
 *
 * <p>Confined to the request's event loop.
 */
public final class RequestFaults {

  private final Ejection ejection;
  private final Collection<FleetWorker> fleet;

  /** The counts by kind of failure; null before the first one. */
  private @Nullable Map<String, Counted> counted;

  private @Nullable FleetWorker worker;
  private long sent;
  private boolean own;

  private record Counted(FleetWorker worker, Breaker.Failure failure) {}

  /**
   * Begins without attempts.
   *
   * @param ejection decides which workers rest
   * @param fleet the workers that the request can go to
   */
  public RequestFaults(Ejection ejection, Collection<FleetWorker> fleet) {
    this.ejection = ejection;
    this.fleet = fleet;
  }

  /**
   * An attempt begins.
   *
   * @param to the worker
   * @param nowNs the current time, in nanoseconds
   */
  public void onSent(FleetWorker to, long nowNs) {
    worker = to;
    sent = to.breaker().onSent(nowNs);
  }

  /**
   * The attempt's answer has begun.
   *
   * @param nowNs the current time, in nanoseconds
   */
  public void onBegun(long nowNs) {
    if (worker != null) {
      worker.breaker().onBegun(sent, nowNs);
    }
  }

  /**
   * The attempt is over without a fault of the worker.
   *
   * @param nowNs the current time, in nanoseconds
   */
  public void onServed(long nowNs) {
    FleetWorker by = worker;
    worker = null;
    if (by != null) {
      by.failures().onServed();
      by.breaker().onSuccess(sent, nowNs);
    }
  }

  /**
   * The attempt ended early without the worker's fault: by the client's, or the gateway's. No
   * effect if its outcome is known.
   *
   * @param nowNs the current time, in nanoseconds
   */
  public void onAbandoned(long nowNs) {
    FleetWorker at = worker;
    worker = null;
    if (at != null) {
      at.breaker().onAbandoned(sent, nowNs);
    }
  }

  /**
   * The attempt failed. Further calls about it have no effect.
   *
   * @param fault how
   * @param nowNs the current time, in nanoseconds
   */
  public void onFailed(RequestFault fault, long nowNs) {
    FleetWorker at = worker;
    worker = null;
    if (at == null) {
      return;
    }
    at.failures().onFailure(fault);
    Map<String, Counted> known = counted == null ? new HashMap<>() : counted;
    counted = known;
    Counted before = known.get(fault.way());
    if (before != null && before.worker() != at && fault.mayBeRequests()) {
      own = true;
      before.worker().breaker().undo(before.failure(), nowNs);
      at.breaker().undo(at.breaker().onFailure(sent, fault.whole(), nowNs), nowNs);
    } else {
      Breaker.Failure failure = ejection.onFailure(at, sent, fault, fleet, nowNs);
      known.put(fault.way(), new Counted(at, failure));
    }
  }

  /** {@return whether the request failed the same way at two workers} */
  public boolean isOwn() {
    return own;
  }
}
