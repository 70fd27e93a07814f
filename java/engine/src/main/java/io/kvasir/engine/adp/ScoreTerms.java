package io.kvasir.engine.adp;

import java.util.Arrays;
import java.util.List;

/**
 * The terms that add up to the scores of a decision.
 *
 * <p>Immutable by contract: the array must not be changed.
 *
 * @param names the terms' names
 * @param values the terms of the first compared rank, then those of the second, and so on
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
public record ScoreTerms(List<String> names, double[] values) {

  /** No terms: the scores are not sums, or explanations are off. */
  public static final ScoreTerms NONE = new ScoreTerms(List.of(), new double[0]);

  /**
   * One term of one rank.
   *
   * @param position the rank's position among the compared ranks
   * @param term the term's position in {@link #names}
   * @return its value
   */
  public double value(int position, int term) {
    return values[position * names.size() + term];
  }

  /** {@return the names and the values, rank by rank} */
  @Override
  public String toString() {
    return names + " " + Arrays.toString(values);
  }
}
