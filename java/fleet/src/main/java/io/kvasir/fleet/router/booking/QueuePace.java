package io.kvasir.fleet.router.booking;

/**
 * How fast waiting requests leave, relative to the expected times: prompts that share a step are
 * faster than expected, those that do not find the longest match slower. Guarded by the router's
 * lock.
 */
final class QueuePace {

  /** The weight that each request leaves to those before it. */
  private static final double FADING = 1 - 1.0 / 64;

  /** Requests of the usual length that the expected pace is worth. */
  private static final double PRIOR = 8;

  private static final double LEAST = 0.25;
  private static final double MOST = 4;
  private static final double NS_PER_MS = 1e6;

  private double workMs;
  private double rankMs;
  private double requests;
  private boolean waited;
  private long leftNs;

  /** A request joins an empty queue: the idle time before it does not count. */
  void restart() {
    waited = false;
  }

  /**
   * A request leaves to be placed.
   *
   * @param promptMs the expected time to compute it
   * @param ranks number of ranks
   * @param last whether no other request waits
   * @param nowNs the time
   */
  void left(double promptMs, int ranks, boolean last, long nowNs) {
    if (waited) {
      workMs = workMs * FADING + promptMs;
      rankMs = rankMs * FADING + ranks * ((nowNs - leftNs) / NS_PER_MS);
      requests = requests * FADING + 1;
    }
    waited = !last;
    leftNs = nowNs;
  }

  /** The actual pace over the expected one. */
  double factor() {
    if (workMs == 0) {
      return 1;
    }
    double prior = PRIOR * workMs / requests;
    return Math.max(LEAST, Math.min(MOST, (workMs + prior) / (rankMs + prior)));
  }
}
