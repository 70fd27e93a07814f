package io.kvasir.fleet.load;

import io.kvasir.model.Checks;

/**
 * What a request brings to the rank where it is placed. Immutable by contract: the array is not
 * copied and must not be changed.
 *
 * @param sequenceHashes its full blocks, from its first one
 * @param blocks how many of them count
 * @param inputTokens tokens of its prompt; what the blocks leave over is never shared
 * @param prefillTokens how many of them are to be computed, because they are in no cache; 0 also if
 *     that is not to be tracked
 * @param expectedOutputTokens how many tokens will probably stream out; 0 if unknown
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
public record SequenceLoad(
    long[] sequenceHashes,
    int blocks,
    int inputTokens,
    int prefillTokens,
    int expectedOutputTokens) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if the blocks are more than hashes, the prefill tokens more
   *     than input tokens, or a number is negative
   */
  public SequenceLoad {
    Checks.within("blocks", blocks, 0, sequenceHashes.length);
    Checks.atLeast("inputTokens", inputTokens, 0);
    Checks.within("prefillTokens", prefillTokens, 0, inputTokens);
    Checks.atLeast("expectedOutputTokens", expectedOutputTokens, 0);
  }

  /**
   * A request whose number of output tokens is unknown.
   *
   * @param sequenceHashes its full blocks, from its first one
   * @param blocks how many of them count
   * @param inputTokens tokens of its prompt
   * @param prefillTokens how many of them are to be computed
   * @throws IllegalArgumentException if the blocks are more than hashes, the prefill tokens more
   *     than input tokens, or a number is negative
   */
  public SequenceLoad(long[] sequenceHashes, int blocks, int inputTokens, int prefillTokens) {
    this(sequenceHashes, blocks, inputTokens, prefillTokens, 0);
  }

  /** {@return its numbers without the hashes} */
  @Override
  public String toString() {
    return blocks
        + " blocks, "
        + prefillTokens
        + " of "
        + inputTokens
        + " tokens to prefill, "
        + expectedOutputTokens
        + " expected";
  }
}
