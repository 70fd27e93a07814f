package io.kvasir.simulator.workload;

/** Arrival times of a Poisson process: independent, exponential gaps. */
final class PoissonTimes {

  private static final double NS_PER_S = 1e9;

  private PoissonTimes() {}

  /**
   * The first times of a process; the first arrival is at 0.
   *
   * @param count number of times
   * @param perSecond mean arrivals per second; 0 or less puts all arrivals at 0
   * @param seed seed of the gaps
   * @return nanoseconds, ascending
   */
  static long[] draw(int count, double perSecond, long seed) {
    long[] times = new long[count];
    if (perSecond > 0) {
      SeededRandom random = new SeededRandom(seed);
      for (int i = 1; i < count; i++) {
        times[i] = times[i - 1] + Math.round(random.nextExponential(NS_PER_S / perSecond));
      }
    }
    return times;
  }
}
