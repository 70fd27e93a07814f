package io.kvasir.simulator.compare;

import io.kvasir.model.Checks;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.SharedPrefix;
import java.util.Locale;

/**
 * Prompts whose first half is one of a few equally popular prefixes and whose second half is
 * unique.
 *
 * <p>Immutable.
 *
 * @param prefixes number of prefixes, at least 1
 * @param inputTokens tokens of a prompt, at least 2
 * @param outputTokens tokens of an answer, at least 2
 */
public record PrefixedPrompts(int prefixes, int inputTokens, int outputTokens) {

  private static final double SIGMA = 0.5;

  /** Whether all requests are equally long. */
  public enum Lengths {
    /** All requests have the same length. */
    FIXED,
    /**
     * The unique part of a prompt is lognormal with the same median and sigma 0.5; an answer has
     * half to one and a half times as many tokens.
     */
    VARIED;

    /** {@return the name in reports, for example {@code fixed}} */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public PrefixedPrompts {
    Checks.atLeast("prefixes", prefixes, 1);
    Checks.atLeast("inputTokens", inputTokens, 2);
    Checks.atLeast("outputTokens", outputTokens, 2);
  }

  /**
   * Generates the requests.
   *
   * @param requests how many, at least 1
   * @param lengths distribution of their lengths
   * @param seed the seed of all randomness
   * @return a sequence without arrival times
   */
  public RequestSequence sequence(int requests, Lengths lengths, long seed) {
    boolean varied = lengths == Lengths.VARIED;
    int half = inputTokens / 2;
    return new SharedPrefix(
        new SharedPrefix.Shape(
            requests,
            prefixes,
            half,
            0,
            new LognormalTokens(inputTokens - half, varied ? SIGMA : 0),
            varied
                ? new IntRange(outputTokens / 2, outputTokens + outputTokens / 2)
                : new IntRange(outputTokens, outputTokens),
            0,
            seed));
  }
}
