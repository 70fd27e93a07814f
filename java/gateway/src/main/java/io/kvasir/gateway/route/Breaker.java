package io.kvasir.gateway.route;

import java.util.concurrent.TimeUnit;

/**
 * Keeps requests away from a worker that fails. It may open when enough outcomes of a window, and a
 * large enough share of them, are failures. When some time has passed, one request at a time may
 * try. The first trial that is served closes it, and so does a trial whose answer has streamed for
 * as long as the breaker rests: answers can take minutes. A worker that accepts no connection is
 * not measured by shares, because no request can be the reason: as many attempts of the window in a
 * row without a connection may open the breaker too.
 *
 * <p>While it is open, only outcomes of trials count: requests that were sent before say nothing of
 * the worker as it is now.
 *
 * <p>Thread-safe; every call is O(1).
 */
public final class Breaker {

  /** What a failure weighs that may be the request's own fault, in half failures. */
  private static final int HALF = 1;

  private static final int WHOLE = 2;
  private static final int PERCENT = 100;

  private final BreakerSettings settings;
  private final long openNs;
  private final OutcomeWindow window;

  /** Attempts without a connection since the last answer. */
  private final OutcomeWindow unconnected;

  private volatile boolean open;

  /** Whether {@link #unconnected} has any. */
  private volatile boolean hasUnconnected;

  /** How often it has opened. */
  private long openings;

  /** Outcomes and failures of the window at the last opening. */
  private long outcomesAtOpening;

  private long halvesAtOpening;
  private boolean unreachableAtOpening;
  private long retryAtNs;
  private boolean trialStreams;
  private long trialStreamsSinceNs;

  /**
   * A failure that was counted. Immutable.
   *
   * @param halves its weight in half failures
   * @param atNs when it was counted
   * @param openings how often the breaker had opened before
   * @param counted whether it is in the window
   * @param trial whether it is a trial's
   */
  record Failure(int halves, long atNs, long openings, boolean counted, boolean trial) {}

  /**
   * Creates a closed breaker.
   *
   * @param settings when it opens, and for how long
   */
  public Breaker(BreakerSettings settings) {
    this.settings = settings;
    this.openNs = TimeUnit.MILLISECONDS.toNanos(settings.openMs());
    long windowNs = TimeUnit.MILLISECONDS.toNanos(settings.windowMs());
    this.window = new OutcomeWindow(windowNs);
    this.unconnected = new OutcomeWindow(windowNs);
  }

  /**
   * Creates a closed breaker with the settings of {@link BreakerSettings#of}.
   *
   * @param failures failures within the window from which it may open, at least 1
   * @param openNs how long it lets nothing through, in nanoseconds
   */
  public Breaker(int failures, long openNs) {
    this(BreakerSettings.of(failures, TimeUnit.NANOSECONDS.toMillis(openNs)));
  }

  /** {@return whether it is open: the worker rests or is on trial} */
  public boolean isOpen() {
    return open;
  }

  /**
   * Whether a request may be sent now.
   *
   * @param nowNs the current time, in nanoseconds
   * @return true if the breaker is closed, or a trial is due
   */
  public boolean admits(long nowNs) {
    return !open || admitsTrial(nowNs);
  }

  private synchronized boolean admitsTrial(long nowNs) {
    closeIfTrialLasts(nowNs);
    return !open || nowNs - retryAtNs >= 0;
  }

  private void closeIfTrialLasts(long nowNs) {
    if (open && trialStreams && nowNs - trialStreamsSinceNs >= openNs) {
      close();
    }
  }

  /**
   * A request is sent. In an open breaker it is a trial, and the next one is due later.
   *
   * @param nowNs the current time, in nanoseconds
   * @return names the request in the calls about its outcome
   */
  public synchronized long onSent(long nowNs) {
    if (open) {
      retryAtNs = nowNs + openNs;
    }
    return openings << 1 | (open ? 1 : 0);
  }

  /**
   * A request's answer has begun.
   *
   * @param sent the value of {@link #onSent}
   * @param nowNs the current time, in nanoseconds
   */
  public void onBegun(long sent, long nowNs) {
    if ((sent & 1) != 0 || hasUnconnected) {
      synchronized (this) {
        onConnected();
        if (isTrial(sent) && !trialStreams) {
          trialStreams = true;
          trialStreamsSinceNs = nowNs;
        }
      }
    }
  }

  /**
   * A request was served to its end.
   *
   * @param sent the value of {@link #onSent}
   * @param nowNs the current time, in nanoseconds
   */
  public synchronized void onSuccess(long sent, long nowNs) {
    onConnected();
    if (isTrial(sent)) {
      close();
    } else if (!open) {
      window.add(0, nowNs);
    }
  }

  /**
   * A request ended early without the worker's fault. A trial that ends so proves nothing, unless
   * its answer has streamed for long enough. If its answer had begun, another may follow at once.
   *
   * @param sent the value of {@link #onSent}
   * @param nowNs the current time, in nanoseconds
   */
  public void onAbandoned(long sent, long nowNs) {
    if ((sent & 1) != 0) {
      synchronized (this) {
        closeIfTrialLasts(nowNs);
        if (isTrial(sent) && trialStreams) {
          trialStreams = false;
          retryAtNs = nowNs;
        }
      }
    }
  }

  /**
   * A request failed by the worker's fault.
   *
   * @param sent the value of {@link #onSent}
   * @param whole whether the worker is at fault for certain; otherwise the failure counts half
   * @param nowNs the current time, in nanoseconds
   * @return what was counted
   */
  synchronized Failure onFailure(long sent, boolean whole, long nowNs) {
    int halves = whole ? WHOLE : HALF;
    boolean trial = isTrial(sent);
    if (trial) {
      retryAtNs = nowNs + openNs;
      trialStreams = false;
    } else if (!open) {
      window.add(halves, nowNs);
    }
    return new Failure(halves, nowNs, openings, !open, trial);
  }

  /** A request could not be sent, because the worker accepted no connection. */
  synchronized void onUnconnected(long nowNs) {
    hasUnconnected = true;
    unconnected.add(0, nowNs);
  }

  private void onConnected() {
    if (hasUnconnected) {
      hasUnconnected = false;
      unconnected.clear();
    }
  }

  /**
   * Whether the worker accepted no connection often enough within the window, without an answer.
   */
  synchronized boolean isUnreachable(long nowNs) {
    return hasUnconnected && unconnected.outcomes(nowNs) >= settings.failures();
  }

  /**
   * A failure turned out to be the request's own fault. Its effects are undone.
   *
   * @param failure what was counted
   * @param nowNs the current time, in nanoseconds
   */
  synchronized void undo(Failure failure, long nowNs) {
    if (failure.trial() && open && failure.openings() == openings) {
      retryAtNs = nowNs;
    } else if (failure.counted()) {
      window.remove(failure.halves(), failure.atNs());
      if (open && failure.openings() == openings - 1) {
        outcomesAtOpening--;
        halvesAtOpening -= failure.halves();
        open = unreachableAtOpening || fails(outcomesAtOpening, halvesAtOpening);
      }
    }
  }

  /** Whether it should open. */
  synchronized boolean shouldOpen(long nowNs) {
    return !open
        && (isUnreachable(nowNs) || fails(window.outcomes(nowNs), window.failedHalves(nowNs)));
  }

  /** Opens it, unless what it has counted speaks against that by now; {@return whether it did}. */
  synchronized boolean open(long nowNs) {
    if (!shouldOpen(nowNs)) {
      return false;
    }
    outcomesAtOpening = window.outcomes(nowNs);
    halvesAtOpening = window.failedHalves(nowNs);
    unreachableAtOpening = isUnreachable(nowNs);
    openings++;
    open = true;
    trialStreams = false;
    retryAtNs = nowNs + openNs;
    return true;
  }

  private boolean fails(long outcomes, long halves) {
    return halves >= (long) WHOLE * settings.failures()
        && halves * PERCENT >= WHOLE * outcomes * settings.failurePercent();
  }

  private boolean isTrial(long sent) {
    return open && sent == (openings << 1 | 1);
  }

  private void close() {
    open = false;
    onConnected();
    trialStreams = false;
    window.clear();
  }
}
