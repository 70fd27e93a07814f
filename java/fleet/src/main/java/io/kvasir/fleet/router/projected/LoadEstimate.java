package io.kvasir.fleet.router.projected;

/** The share of recent time in which ranks computed prompts. Not thread-safe. */
final class LoadEstimate {

  private static final double MEMORY_MS = 30_000;
  private static final double MOST = 0.9;
  private static final double NS_PER_MS = 1e6;

  private double busyMs;
  private double totalMs;
  private long atNs;
  private boolean begun;

  /** A rank has computed prompts for so long. */
  void busy(double ms) {
    busyMs += ms;
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

  /** The share, 0 to 0.9. */
  double share() {
    return totalMs == 0 ? 0 : Math.min(MOST, busyMs / totalMs);
  }
}
