package io.kvasir.simulator.workload;

/**
 * A range of whole numbers, both ends included, drawn from uniformly.
 *
 * <p>Immutable.
 *
 * @param minimum smallest number, at least 1
 * @param maximum largest number, at least {@code minimum}
 */
public record IntRange(int minimum, int maximum) {

  /**
   * Checks the order.
   *
   * @throws IllegalArgumentException if the range is empty or begins below 1
   */
  public IntRange {
    if (minimum < 1 || maximum < minimum) {
      throw new IllegalArgumentException(
          "a range must be MIN-MAX with 1 <= MIN <= MAX, not " + minimum + "-" + maximum);
    }
  }

  @Override
  public String toString() {
    return minimum == maximum ? Integer.toString(minimum) : minimum + "-" + maximum;
  }
}
