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
}
