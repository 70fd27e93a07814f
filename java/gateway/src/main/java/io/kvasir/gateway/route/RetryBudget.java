package io.kvasir.gateway.route;

/**
 * Bounds retries to a share of the requests, so that retries do not multiply the load of a fleet
 * that fails. Every request adds a tenth of a retry, up to a reserve that survives the loss of a
 * busy worker.
 *
 * <p>Thread-safe; every call is O(1).
 */
public final class RetryBudget {

  private static final int UNITS_PER_RETRY = 10;

  private final long maxUnits;
  private long units;

  /**
   * Creates a budget with a full reserve.
   *
   * @param reserve retries that can be saved up, at least 0
   */
  public RetryBudget(int reserve) {
    this.maxUnits = (long) reserve * UNITS_PER_RETRY;
    this.units = maxUnits;
  }

  /** A request has arrived. */
  public synchronized void onRequest() {
    units = Math.min(maxUnits, units + 1);
  }

  /**
   * Takes a retry from the budget.
   *
   * @return false if none is left
   */
  public synchronized boolean take() {
    if (units < UNITS_PER_RETRY) {
      return false;
    }
    units -= UNITS_PER_RETRY;
    return true;
  }
}
