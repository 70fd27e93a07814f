package io.kvasir.engine.execute;

/** How long a prefill chunk may be. */
final class ChunkRule {

  private ChunkRule() {}

  /**
   * The rest of a sequence if the budget allows; else up to the last block boundary within the
   * budget, so that what is computed can be named. When no boundary is within reach, the step's
   * first chunk takes the whole budget, so that every step makes progress, and a later chunk waits.
   *
   * @param from tokens computed so far
   * @param to tokens to compute in all
   * @param budget tokens the step has left
   * @param first whether it would be the step's first chunk
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
