package io.kvasir.engine.execute;

/** The length of a prefill chunk. */
final class ChunkRule {

  private ChunkRule() {}

  /**
   * The length of the next chunk. If the budget allows, it is the rest of the sequence. Otherwise
   * it ends at the last block boundary within the budget, so that all computed blocks can be
   * committed. If the budget reaches no boundary, the step's first chunk takes the whole budget, so
   * that every step makes progress, and a later chunk waits.
   *
   * @param from tokens computed so far
   * @param to tokens to compute in all
   * @param budget tokens left in the step
   * @param first whether this would be the step's first chunk
   * @return tokens to compute now, 0 to wait
   */
  static int chunk(int from, int to, int budget, boolean first, int tokensPerBlock) {
    if (to - from <= budget) {
      return to - from;
    }
    int end = from + budget;
    int aligned = end - end % tokensPerBlock;
    if (aligned > from) {
      return aligned - from;
    }
    return first ? budget : 0;
  }

  static int blocks(int tokens, int tokensPerBlock) {
    return (tokens + tokensPerBlock - 1) / tokensPerBlock;
  }
}
