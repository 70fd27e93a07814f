package io.kvasir.fleet.router.projected;

/** How busy ranks are with prompts, and how long one takes. Not thread-safe. */
final class LoadEstimate {

  private static final double MEMORY_MS = 30_000;
  private static final double MOST = 0.9;

  /** Queued prompts per rank at which ranks count as busy for half of their time. */
  private static final double HALF_BUSY_PROMPTS = 3;

  /** Placements over which the time of a prompt is averaged. */
  private static final int MOST_PLACEMENTS = 256;

  private static final double NS_PER_MS = 1e6;

  private double busyMs;
  private double totalMs;
  private long atNs;
  private boolean begun;
  private double promptMs;
  private int placements;

  /** A rank has computed prompts for so long. */
  void busy(double ms) {
    busyMs += ms;
  }

  /** A prompt was placed that takes so long to compute. */
  void placed(double ms) {
    placements = Math.min(MOST_PLACEMENTS, placements + 1);
    promptMs += (ms - promptMs) / placements;
  }

  /** Time has passed on so many ranks. */
  void advance(long nowNs, int ranks) {
    if (begun) {
      double passedMs = (nowNs - atNs) / NS_PER_MS;
      double kept = StrictMath.exp(-passedMs / MEMORY_MS);
      busyMs *= kept;
      totalMs = totalMs * kept + passedMs * ranks;
    }
    begun = true;
    atNs = nowNs;
  }

  /**
   * The share of their time for which ranks compute prompts: that of the last seconds or, if more,
   * that which a backlog will cause.
   *
   * @param backlogMs the time that the queued prompts of all ranks take
   * @param ranks their number, at least 1
   * @return 0 to 0.9
   */
  double share(double backlogMs, int ranks) {
    double recent = totalMs == 0 ? 0 : busyMs / totalMs;
    double half = ranks * HALF_BUSY_PROMPTS * promptMs;
    double coming = half > 0 ? backlogMs / (backlogMs + half) : 0;
    return Math.min(MOST, Math.max(recent, coming));
  }

  /** The share of the last seconds, 0 to 0.9. */
  double share() {
    return share(0, 1);
  }
}
