package io.kvasir.gateway.route;

import io.kvasir.gateway.exchange.Upstream;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A worker of the gateway: where its requests go, and whether it can take any.
 *
 * <p>Thread-safe.
 */
public final class FleetWorker {

  private final int id;
  private final String name;
  private final EngineFlavor flavor;
  private final int ranks;
  private final Upstream upstream;
  private final Breaker breaker;
  private final AtomicInteger activeRequests = new AtomicInteger();
  private volatile boolean healthy;
  private volatile Set<String> models = Set.of();

  /**
   * Creates a worker that is not healthy yet.
   *
   * @param id its number in this gateway, from 0
   * @param name its name in logs and metrics
   * @param flavor the kind of engine
   * @param ranks ranks that requests can be steered to, at least 1
   * @param upstream where its requests go
   * @param breaker keeps requests away while it fails
   */
  public FleetWorker(
      int id, String name, EngineFlavor flavor, int ranks, Upstream upstream, Breaker breaker) {
    this.id = id;
    this.name = name;
    this.flavor = flavor;
    this.ranks = ranks;
    this.upstream = upstream;
    this.breaker = breaker;
  }

  /** {@return the number in this gateway, from 0} */
  public int id() {
    return id;
  }

  /** {@return the name in logs and metrics} */
  public String name() {
    return name;
  }

  /** {@return the kind of engine} */
  public EngineFlavor flavor() {
    return flavor;
  }

  /** {@return ranks that requests can be steered to, at least 1} */
  public int ranks() {
    return ranks;
  }

  /** {@return where its requests go} */
  public Upstream upstream() {
    return upstream;
  }

  /** {@return the breaker} */
  public Breaker breaker() {
    return breaker;
  }

  /** {@return whether the last health checks were good} */
  public boolean healthy() {
    return healthy;
  }

  void healthy(boolean now) {
    healthy = now;
  }

  /** {@return the models that the worker serves, as of the last health check} */
  public Set<String> models() {
    return models;
  }

  void models(Set<String> now) {
    models = Set.copyOf(now);
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

  /**
   * Whether requests may be sent to the worker.
   *
   * @param nowNs the current time, in nanoseconds
   * @return true if it is healthy and its breaker admits a request
   */
  public boolean takes(long nowNs) {
    return healthy && breaker.admits(nowNs);
  }
}
