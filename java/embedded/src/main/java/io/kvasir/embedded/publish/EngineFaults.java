package io.kvasir.embedded.publish;

/**
 * What goes wrong with an engine as a whole. Immutable.
 *
 * @param wrongRank how many ranks further events are published and named than they happened
 * @param ignoreSteering whether ranks that requests name are ignored
 * @param wrongTemplate whether chats have other tokens than those that the engine makes for others
 * @param blockTokens tokens of a block as the engine reports them; 0 for the true number
 * @param lostTokens tokens that each reported hit lacks, as with speculative decoding
 * @param smallestHit cached tokens below which a hit is reported as none
 */
public record EngineFaults(
    int wrongRank,
    boolean ignoreSteering,
    boolean wrongTemplate,
    int blockTokens,
    int lostTokens,
    int smallestHit) {

  /** Nothing goes wrong. */
  public static final EngineFaults NONE = new EngineFaults(0, false, false, 0, 0, 0);

  /**
   * {@return the cached tokens that the engine reports}
   *
   * @param tokens cached tokens in truth
   */
  public int reportedHit(int tokens) {
    int hit = tokens - lostTokens;
    return hit < Math.max(1, smallestHit) ? 0 : hit;
  }
}
