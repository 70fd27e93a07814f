package io.kvasir.simulator.workload;

import io.kvasir.model.Checks;
import java.util.Locale;

/**
 * The distribution of the time between an answer and the next turn.
 *
 * <p>Immutable.
 *
 * @param distribution its shape
 * @param meanSeconds its mean, at least 0
 * @param sigma standard deviation of the logarithm of a lognormal time, at least 0
 */
public record ThinkTime(Distribution distribution, double meanSeconds, double sigma) {

  private static final double NS_PER_S = 1e9;

  /** Shapes of the distribution. */
  public enum Distribution {
    /** Memoryless. */
    EXPONENTIAL,
    /** Heavy-tailed: most times are short, a few very long. */
    LOGNORMAL;

    /** {@return the distribution's name in options and reports, for example {@code exponential}} */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the parameter that is out of range
   */
  public ThinkTime {
    Checks.finiteAtLeast0("meanSeconds", meanSeconds);
    Checks.finiteAtLeast0("sigma", sigma);
  }

  long drawNs(SeededRandom random) {
    double seconds =
        switch (distribution) {
          case EXPONENTIAL -> random.nextExponential(meanSeconds);
          // A lognormal of location mu has the mean exp(mu + sigma^2 / 2).
          case LOGNORMAL ->
              meanSeconds * StrictMath.exp(sigma * random.nextGaussian() - sigma * sigma / 2);
        };
    return Math.round(seconds * NS_PER_S);
  }
}
