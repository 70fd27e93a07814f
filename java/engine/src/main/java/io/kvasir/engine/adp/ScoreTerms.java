package io.kvasir.engine.adp;

import java.util.List;

/**
 * What the scores of a decision are the sums of.
 *
 * <p>Immutable by contract: the array must not be changed.
 *
 * @param names the terms' names
 * @param values the terms of the first rank that was compared, then those of the second and so on
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
public record ScoreTerms(List<String> names, double[] values) {

  /** Of decisions whose scores are not sums, or for which nobody asked. */
  public static final ScoreTerms NONE = new ScoreTerms(List.of(), new double[0]);

  /**
   * One term of one rank.
   *
   * @param position the rank's position among those that were compared
   * @param term the term's position in {@link #names}
   * @return its value
   */
  public double value(int position, int term) {
    return values[position * names.size() + term];
  }
}
