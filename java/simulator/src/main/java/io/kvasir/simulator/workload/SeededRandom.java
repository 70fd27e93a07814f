package io.kvasir.simulator.workload;

import io.kvasir.simulator.trace.TokenExpansion;

/**
 * A stream of random numbers that is the same on every platform and Java version: SplitMix64 and
 * strict mathematics.
 *
 * <p>Not thread-safe.
 */
final class SeededRandom {

  private static final long GOLDEN = 0x9e3779b97f4a7c15L;
  private static final double UNIT = 0x1.0p-53;

  private long state;

  SeededRandom(long seed) {
    this.state = seed;
  }

  /** The stream of one session or request under a workload's seed. */
  static SeededRandom of(long seed, long thing) {
    return new SeededRandom(Content.CHOICES.seed(seed, thing));
  }

  private long nextLong() {
    state += GOLDEN;
    return TokenExpansion.mix(state);
  }

  /** Uniform in [0, 1). */
  double nextDouble() {
    return (nextLong() >>> 11) * UNIT;
  }

  /** Uniform over the range, ends included. */
  int nextInt(IntRange range) {
    return range.minimum() + (int) (nextDouble() * ((long) range.maximum() - range.minimum() + 1));
  }

  /** Over the range, ends included, with a uniform logarithm: small numbers are more frequent. */
  int nextLogUniform(IntRange range) {
    double ratio = (range.maximum() + 1.0) / range.minimum();
    double drawn = range.minimum() * StrictMath.pow(ratio, nextDouble());
    return (int) Math.min(range.maximum(), (long) drawn);
  }

  /** Exponential with the given mean. */
  double nextExponential(double mean) {
    return -mean * StrictMath.log(1 - nextDouble());
  }

  /** Normal with mean 0 and deviation 1 (Box and Muller 1958; the second value is not used). */
  double nextGaussian() {
    double radius = StrictMath.sqrt(nextExponential(2));
    return radius * StrictMath.cos(2 * Math.PI * nextDouble());
  }
}
