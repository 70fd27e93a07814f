package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Ratio;
import java.util.Locale;

/**
 * Formats numbers for people, identically in every locale; an undefined number becomes a dash.
 *
 * <p>Stateless.
 */
public final class Numbers {

  private static final String UNDEFINED = "-";
  private static final int MANY = 1000;

  private Numbers() {}

  /**
   * A whole number with thousands separators.
   *
   * @param value the number
   * @return the text
   */
  public static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /**
   * A rate between 0 and 1 with four decimals.
   *
   * @param value the rate
   * @return the text
   */
  public static String rate(double value) {
    return decimals(value, 4);
  }

  /**
   * A share as whole percent.
   *
   * @param value the share, 1 for all
   * @return the text
   */
  public static String percent(double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%.0f %%", value * 100) : UNDEFINED;
  }

  /**
   * A measure with one decimal, or none if it is large.
   *
   * @param value the measure
   * @return the text
   */
  public static String measure(double value) {
    return decimals(value, value < MANY ? 1 : 0);
  }

  /**
   * A number with a fixed count of decimals.
   *
   * @param value the number
   * @param decimals number of decimals
   * @return the text
   */
  public static String decimals(double value, int decimals) {
    return Double.isFinite(value)
        ? String.format(Locale.ROOT, "%,." + decimals + "f", value)
        : UNDEFINED;
  }

  /** A ratio, with its interval if there is one. */
  static String ratio(Ratio ratio) {
    return Double.isNaN(ratio.low())
        ? String.format(Locale.ROOT, "%.2f", ratio.mean())
        : String.format(
            Locale.ROOT, "%.2f (%.2f to %.2f)", ratio.mean(), ratio.low(), ratio.high());
  }
}
