package io.kvasir.gateway.route;

import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests that a worker failed since it served one. The log says when they are many, and each
 * asks for a check of the worker's health.
 *
 * <p>Thread-safe.
 */
final class FailuresInRow {

  private static final Logger LOG = LoggerFactory.getLogger(FailuresInRow.class);

  /** Requests that fail in a row before the log says so. */
  private static final int LOGGED = 3;

  private final String worker;
  private final AtomicInteger count = new AtomicInteger();
  private volatile Runnable check = () -> {};

  /** Begins without failures of the worker of this name. */
  FailuresInRow(String worker) {
    this.worker = worker;
  }

  /** Sets what checks the worker's health at the next moment: thread-safe, and not blocking. */
  void checkWith(Runnable check) {
    this.check = check;
  }

  /** A request failed by the worker's fault. */
  void onFailure(RequestFault fault) {
    check.run();
    if (count.incrementAndGet() == LOGGED) {
      LOG.warn("worker {} has failed {} requests in a row: {}", worker, LOGGED, fault.logged());
    }
  }

  /** A request was served to its end. */
  void onServed() {
    if (count.get() > 0 && count.getAndSet(0) >= LOGGED) {
      LOG.info("worker {} serves requests again", worker);
    }
  }
}
