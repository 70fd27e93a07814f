package io.kvasir.gateway.route;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Whether a worker belongs to the gateway and takes new requests, and how many it serves.
 * Thread-safe.
 */
public final class Membership {

  private final AtomicInteger activeRequests = new AtomicInteger();
  private volatile boolean cordoned;
  private volatile boolean left;
  private volatile double weight;
  private volatile @Nullable FleetWorker before;
  private volatile long begunNs = Long.MIN_VALUE / 2;

  /** A worker that takes requests, with a weight. */
  Membership(double weight) {
    this.weight = weight;
  }

  /** {@return requests of this gateway in flight at the worker} */
  public int activeRequests() {
    return activeRequests.get();
  }

  /** A request is sent to the worker. */
  public void onSent() {
    activeRequests.incrementAndGet();
  }

  /** A request that was sent is over. */
  public void onFinished() {
    activeRequests.decrementAndGet();
  }

  /** {@return whether an operator keeps new requests away} */
  public boolean cordoned() {
    return cordoned;
  }

  /**
   * Keeps new requests away, or no longer. Those in progress go on, and so do those that only this
   * worker can serve.
   *
   * @param now whether new requests stay away
   */
  public void cordon(boolean now) {
    cordoned = now;
  }

  /** {@return its weight relative to other workers, above 0 and at most 1; see {@link Shares}} */
  public double weight() {
    return weight;
  }

  /**
   * Changes its weight.
   *
   * @param now the weight from now on, above 0 and at most 1
   */
  public void weigh(double now) {
    weight = now;
  }

  /** {@return the worker whose place this one takes when it has answered; null for none} */
  @Nullable FleetWorker before() {
    return before;
  }

  /**
   * Takes the place of a worker once this one has answered. The models that only the old worker
   * serves then get a new router, and its events are no longer followed.
   *
   * @param worker the worker, at the same engine; null for none
   */
  public void follow(@Nullable FleetWorker worker) {
    before = worker;
  }

  /** When its engine answered first, or again; long ago before. */
  long begunNs() {
    return begunNs;
  }

  /** Its engine answers after it did not. */
  void begin(long nowNs) {
    begunNs = nowNs;
  }

  /** {@return whether it no longer belongs to the gateway; its requests in progress go on} */
  public boolean hasLeft() {
    return left;
  }

  /** It no longer belongs to the gateway. */
  void leave() {
    left = true;
  }
}
