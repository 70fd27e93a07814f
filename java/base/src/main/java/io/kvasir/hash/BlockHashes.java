package io.kvasir.hash;

/**
 * The hashes of a prompt's blocks, first block first.
 *
 * <p>Immutable by contract: the arrays are not copied and must not be modified.
 *
 * @param local hash of each block's own tokens
 * @param sequence sequence hash of each block, which covers the block and all blocks before it
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
public record BlockHashes(long[] local, long[] sequence) {

  /**
   * Checks that both arrays have the same length.
   *
   * @throws IllegalArgumentException if the lengths differ
   */
  public BlockHashes {
    if (local.length != sequence.length) {
      throw new IllegalArgumentException(
          "local and sequence differ in length: " + local.length + ", " + sequence.length);
    }
  }

  /** {@return the number of blocks, at least 0} */
  public int blocks() {
    return sequence.length;
  }

  /** {@return the number of blocks and the last sequence hash, which covers the others} */
  @Override
  public String toString() {
    return blocks() == 0
        ? "0 blocks"
        : blocks() + " blocks to " + Long.toHexString(sequence[blocks() - 1]);
  }
}
