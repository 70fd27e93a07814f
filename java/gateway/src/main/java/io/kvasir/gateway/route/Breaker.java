package io.kvasir.gateway.route;

/**
 * Keeps requests away from a worker that fails. After a number of failures in a row it opens; when
 * some time has passed, one request at a time may try, and its success closes the breaker.
 *
 * <p>Thread-safe; every call is O(1).
 */
public final class Breaker {

  private final int failuresToOpen;
  private final long openNs;
  private int failures;
  private boolean open;
  private long retryAtNs;

  /**
   * Creates a closed breaker.
   *
   * @param failuresToOpen failures in a row that open it, at least 1
   * @param openNs how long it lets nothing through, in nanoseconds
   */
  public Breaker(int failuresToOpen, long openNs) {
    this.failuresToOpen = failuresToOpen;
    this.openNs = openNs;
  }

  /**
   * Whether a request may be sent now.
   *
   * @param nowNs the current time, in nanoseconds
   * @return true if the breaker is closed, or a trial is due
   */
  public synchronized boolean admits(long nowNs) {
    return !open || nowNs - retryAtNs >= 0;
  }

  /**
   * A request is sent. In an open breaker it is the trial, and the next one is due later.
   *
   * @param nowNs the current time, in nanoseconds
   */
  public synchronized void onSent(long nowNs) {
    if (open) {
      retryAtNs = nowNs + openNs;
    }
  }

  /** A request was answered. */
  public synchronized void onSuccess() {
    failures = 0;
    open = false;
  }

  /**
   * A request failed by the worker's fault.
   *
   * @param nowNs the current time, in nanoseconds
   * @return whether this opened the breaker
   */
  public synchronized boolean onFailure(long nowNs) {
    failures++;
    boolean opens = !open && failures >= failuresToOpen;
    if (opens || open) {
      open = true;
      retryAtNs = nowNs + openNs;
    }
    return opens;
  }
}
