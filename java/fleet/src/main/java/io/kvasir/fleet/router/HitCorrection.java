package io.kvasir.fleet.router;

/**
 * The part of what an engine holds of a prompt that it reuses. Immutable.
 *
 * <p>With speculative decoding, vLLM computes the last block of each hit again, and SGLang needs
 * one token more behind a page. With context parallelism, hits are whole groups of blocks. Some
 * engines ignore short hits.
 *
 * @param endTokens tokens at the end of a prompt that are computed in any case, at least 0
 * @param unitBlocks hits are multiples of this many blocks, at least 1
 * @param lostBlocks blocks that are missing from each hit, at least 0
 * @param smallestBlocks blocks of the smallest hit that is not ignored, at least 1
 */
public record HitCorrection(int endTokens, int unitBlocks, int lostBlocks, int smallestBlocks) {

  /** Everything that is held is reused. */
  public static final HitCorrection NONE = new HitCorrection(0, 1, 0, 1);

  /**
   * {@return the blocks of a match that the engine reuses}
   *
   * @param matchedBlocks leading blocks of the prompt that it holds
   * @param promptTokens the prompt's tokens
   * @param tokensPerBlock its block size
   */
  public int blocks(int matchedBlocks, int promptTokens, int tokensPerBlock) {
    int most = Math.max(0, promptTokens - endTokens) / tokensPerBlock;
    int whole = Math.min(matchedBlocks, most);
    int reused = whole - whole % unitBlocks - lostBlocks;
    return reused < smallestBlocks ? 0 : reused;
  }
}
