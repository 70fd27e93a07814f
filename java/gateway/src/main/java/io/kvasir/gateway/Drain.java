package io.kvasir.gateway;

import io.kvasir.gateway.proxy.GatewayHandler;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a gateway that stops lets its requests end. Confined to the thread that stops it. */
final class Drain {

  private static final Logger LOG = LoggerFactory.getLogger(Drain.class);
  private static final int POLL_MS = 20;

  private final GatewayHandler handler;
  private final IntSupplier atWorkers;
  private final Runnable leave;
  private final long limitMs;

  /** The time in which a gateway that stops still serves requests. */
  @FunctionalInterface
  interface Grace {

    /** Waits until it is over. */
    void pass() throws InterruptedException;
  }

  /**
   * Prepares the end.
   *
   * @param handler has the requests
   * @param atWorkers the requests in flight at workers: prefill legs can go on after the request
   *     was answered
   * @param leave lets each connection close after its request
   * @param limitMs how long requests may go on
   */
  Drain(GatewayHandler handler, IntSupplier atWorkers, Runnable leave, long limitMs) {
    this.handler = handler;
    this.atWorkers = atWorkers;
    this.leave = leave;
    this.limitMs = limitMs;
  }

  /**
   * Serves for a grace, then refuses new requests and waits for those in progress; cuts the rest.
   *
   * @param grace the time before; null for none
   * @return requests that were cut
   */
  int run(@Nullable Grace grace) {
    try {
      if (grace != null) {
        handler.leave();
        leave.run();
        grace.pass();
      }
      handler.drain();
      leave.run();
      await(limitMs);
      int left = handler.inProgress();
      if (left > 0) {
        LOG.warn("{} requests did not end in time and are cut", left);
        handler.cut();
        await(TimeUnit.SECONDS.toMillis(1));
      }
      int legs = atWorkers.getAsInt();
      if (legs > 0) {
        LOG.warn("{} requests did not end in time at their workers and are cut", legs);
      }
      return left;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return handler.inProgress();
    }
  }

  /** Waits until no request is in progress here or at a worker, or for a time. */
  private void await(long ms) throws InterruptedException {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    while ((handler.inProgress() > 0 || atWorkers.getAsInt() > 0)
        && System.nanoTime() - endNs < 0) {
      Thread.sleep(POLL_MS);
    }
  }
}
