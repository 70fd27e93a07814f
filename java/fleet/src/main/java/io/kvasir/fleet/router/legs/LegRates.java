package io.kvasir.fleet.router.legs;

import java.util.function.LongSupplier;

/**
 * How often, recently, prompts have reached the ranks that compute them for others, and answers the
 * ranks that generate them.
 *
 * <p>Thread-safe.
 */
public final class LegRates {

  /** Time in which 63 % (1 - 1/e) of what was seen is forgotten. */
  private static final double MEMORY_MS = 30_000;

  private static final double NS_PER_MS = 1e6;

  private final LongSupplier clockNs;

  // Guarded by this.
  private double prompts;
  private double answers;
  private double prefillRankMs;
  private double decodeRankMs;
  private long atNs;
  private boolean begun;

  /**
   * Rates of the last seconds.
   *
   * @param prefill prompts that a prefill rank gets, in a millisecond
   * @param decode requests whose answers a decode rank gets, in a millisecond
   */
  record PerRank(double prefill, double decode) {}

  /**
   * Begins without requests.
   *
   * @param clockNs the time, in nanoseconds
   */
  public LegRates(LongSupplier clockNs) {
    this.clockNs = clockNs;
  }

  /** The rates by now, over so many ranks of each role; 0 before the second request. */
  synchronized PerRank perRank(int prefillRanks, int decodeRanks) {
    long nowNs = clockNs.getAsLong();
    double passedMs = begun ? Math.max(0, nowNs - atNs) / NS_PER_MS : 0;
    double kept = StrictMath.exp(-passedMs / MEMORY_MS);
    begun = true;
    atNs = nowNs;
    prompts *= kept;
    answers *= kept;
    prefillRankMs = prefillRankMs * kept + passedMs * prefillRanks;
    decodeRankMs = decodeRankMs * kept + passedMs * decodeRanks;
    return new PerRank(rate(prompts, prefillRankMs), rate(answers, decodeRankMs));
  }

  private static double rate(double count, double rankMs) {
    return rankMs > 0 ? count / rankMs : 0;
  }

  /** A request begins, whose prompt a prefill rank computes or not. */
  synchronized void onDecided(boolean apart) {
    answers++;
    prompts += apart ? 1 : 0;
  }
}
