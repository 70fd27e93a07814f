package io.kvasir.simulator.report;

import java.util.Locale;

/** Numbers as people read them, the same in every locale; a dash for what is undefined. */
final class Numbers {

  private static final String UNDEFINED = "-";
  private static final int MANY = 1000;

  private Numbers() {}

  /** A whole number with thousands separators. */
  static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** A rate between 0 and 1 with four decimals. */
  static String rate(double value) {
    return decimals(value, 4);
  }

  /** A share as whole percent. */
  static String percent(double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%.0f %%", value * 100) : UNDEFINED;
  }

  /** A measure with one decimal, or none where it is large. */
  static String measure(double value) {
    return decimals(value, value < MANY ? 1 : 0);
  }

  /** A number with so many decimals. */
  static String decimals(double value, int decimals) {
    return Double.isFinite(value)
        ? String.format(Locale.ROOT, "%,." + decimals + "f", value)
        : UNDEFINED;
  }
}
