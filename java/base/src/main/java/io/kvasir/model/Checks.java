package io.kvasir.model;

/**
 * Argument checks. Their messages state the field, the allowed values and the actual value.
 * Stateless.
 */
public final class Checks {

  private Checks() {}

  /**
   * Checks a lower bound.
   *
   * @param field the field's name
   * @param value its value
   * @param least the lowest allowed value
   * @throws IllegalArgumentException if the value is lower
   */
  public static void atLeast(String field, long value, long least) {
    if (value < least) {
      throw new IllegalArgumentException(field + " must be at least " + least + ", not " + value);
    }
  }

  /**
   * Checks that a number is finite and not negative.
   *
   * @param field the field's name
   * @param value its value
   * @throws IllegalArgumentException if the value is negative, infinite or NaN
   */
  public static void finiteAtLeast0(String field, double value) {
    if (!(value >= 0 && Double.isFinite(value))) {
      throw new IllegalArgumentException(field + " must be finite and at least 0, not " + value);
    }
  }

  /**
   * Checks a range of whole numbers.
   *
   * @param field the field's name
   * @param value its value
   * @param least the lowest allowed value
   * @param most the highest allowed value
   * @throws IllegalArgumentException if the value is outside
   */
  public static void within(String field, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          field + " must be within " + least + " to " + most + ", not " + value);
    }
  }

  /**
   * Checks a range.
   *
   * @param field the field's name
   * @param value its value
   * @param least the lowest allowed value
   * @param most the highest allowed value
   * @throws IllegalArgumentException if the value is outside or NaN
   */
  public static void within(String field, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(
          field + " must be within " + plain(least) + " to " + plain(most) + ", not " + value);
    }
  }

  /** A bound as errors show it: whole numbers without a fraction or an exponent. */
  private static String plain(double bound) {
    return bound == (long) bound && Math.abs(bound) < 1L << 53
        ? Long.toString((long) bound)
        : Double.toString(bound);
  }
}
