package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time for which the side of an attempt that has to act next may show no sign. A sign costs no
 * timer: the one that runs finds later how long the silence has lasted.
 *
 * <p>Confined to the exchange's event loop.
 */
final class SilenceLimit {

  private final EventLoop loop;
  private final Relay relay;
  private EventLoop.@Nullable Timer timer;

  /** The last sign of the side that the limit is for. */
  private long sinceNs;

  /** When the timer runs, if there is one. */
  private long timerNs;

  /**
   * Begins without a limit.
   *
   * @param relay has the limit that applies, and is called when it has passed
   */
  SilenceLimit(EventLoop loop, Relay relay) {
    this.loop = loop;
    this.relay = relay;
  }

  /** There was a sign. */
  void onSign(long nowNs) {
    sinceNs = nowNs;
  }

  /** Starts the limit that applies now. A timer that runs earlier than needed stays. */
  void restart() {
    sinceNs = System.nanoTime();
    long limitMs = relay.limitMs();
    if (timer == null || sinceNs + TimeUnit.MILLISECONDS.toNanos(limitMs) - timerNs < 0) {
      startTimer(limitMs);
    }
  }

  private void startTimer(long delayMs) {
    stop();
    timerNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    timer = loop.after(Math.max(1, delayMs), this::onTimer);
  }

  /** Runs when a limit may have passed; runs again later while it has not. */
  private void onTimer() {
    long silentMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNs);
    long limitMs = relay.limitMs();
    if (silentMs < limitMs) {
      startTimer(limitMs - silentMs);
    } else {
      relay.onSilent(limitMs);
    }
  }

  /** Ends the limit. */
  void stop() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }
}
