package io.kvasir.simulator.workload;

/**
 * A uniform distribution over a range of integers, both ends included.
 *
 * <p>Immutable.
 *
 * @param minimum smallest number, at least 1
 * @param maximum largest number, at least {@code minimum}
 */
public record IntRange(int minimum, int maximum) {

  /**
   * Checks the bounds.
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
