package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time that a request may wait for its start: in the gateway's queue and in the fleet router's
 * together. Attempts between two waits do not count.
 *
 * <p>Confined to the request's event loop.
 */
final class QueueWait {

  private final EventLoop loop;
  private final Runnable onTimeout;
  private long leftNs;
  private long sinceNs;
  private EventLoop.@Nullable Timer timer;

  /**
   * Begins without a wait.
   *
   * @param limitMs the limit, in milliseconds
   * @param onTimeout runs once on the loop when a wait has lasted too long
   */
  QueueWait(EventLoop loop, long limitMs, Runnable onTimeout) {
    this.loop = loop;
    this.onTimeout = onTimeout;
    this.leftNs = TimeUnit.MILLISECONDS.toNanos(limitMs);
  }

  /** A wait begins. */
  void begin() {
    end();
    sinceNs = System.nanoTime();
    timer = loop.after(Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNs)), this::onTimer);
  }

  private void onTimer() {
    timer = null;
    leftNs = 0;
    onTimeout.run();
  }

  /** The wait is over, if there was one. */
  void end() {
    EventLoop.Timer running = timer;
    if (running != null) {
      timer = null;
      running.cancel();
      leftNs = Math.max(0, leftNs - (System.nanoTime() - sinceNs));
    }
  }
}
