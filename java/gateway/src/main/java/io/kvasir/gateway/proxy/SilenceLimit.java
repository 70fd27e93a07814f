package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time for which the side of an attempt that has to act next may show no sign, and for which an
 * engine may show signs without any data. A sign costs no timer: the one that runs finds later how
 * long the silence has lasted.
 *
 * <p>Confined to the exchange's event loop.
 */
final class SilenceLimit {

  private final EventLoop loop;
  private final Relay relay;
  private EventLoop.@Nullable Timer timer;

  /** When the attempt began. */
  private long beganNs;

  /** The last sign of the side that the limit is for. */
  private long sinceNs;

  /** Whether there was a sign; before, the engine has the time for silence alone. */
  private boolean signed;

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

  /** The attempt begins. */
  void begin() {
    beganNs = System.nanoTime();
  }

  /** There was a sign. */
  void onSign(long nowNs) {
    sinceNs = nowNs;
    if (!signed) {
      signed = true;
      restart();
    }
  }

  /** Starts the limit that applies now. A timer that runs earlier than needed stays. */
  void restart() {
    sinceNs = System.nanoTime();
    long leftMs = leftMs();
    if (timer == null || sinceNs + TimeUnit.MILLISECONDS.toNanos(leftMs) - timerNs < 0) {
      startTimer(leftMs);
    }
  }

  /** Time until a limit has passed; 0 or less once it has. */
  private long leftMs() {
    return Math.min(relay.limitMs() - msSince(sinceNs), leftForDataMs());
  }

  private long leftForDataMs() {
    return signed ? relay.dataLimitMs() - msSince(beganNs) : Long.MAX_VALUE;
  }

  private static long msSince(long ns) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - ns);
  }

  private void startTimer(long delayMs) {
    stop();
    timerNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    timer = loop.after(Math.max(1, delayMs), this::onTimer);
  }

  /** Runs when a limit may have passed; runs again later while it has not. */
  private void onTimer() {
    long leftMs = leftMs();
    if (leftMs > 0) {
      startTimer(leftMs);
    } else {
      relay.onSilent(leftForDataMs() <= 0);
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
