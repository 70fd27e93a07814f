package io.kvasir.hash;

/**
 * The hashes of a prompt's blocks, first block first.
 *
 * <p>Immutable by contract: the arrays are not copied and must not be changed by anyone.
 *
 * @param local hash of each block's own tokens
 * @param sequence chained hash of each block: it names the block and everything before it
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
public record BlockHashes(long[] local, long[] sequence) {

  /**
   * Checks that every block has both hashes.
   *
   * @throws IllegalArgumentException if the lengths differ
   */
  public BlockHashes {
    if (local.length != sequence.length) {
      throw new IllegalArgumentException(
          "local and sequence differ in length: " + local.length + ", " + sequence.length);
    }
  }

  /**
   * Number of blocks.
   *
   * @return at least 0
   */
  public int blocks() {
    return sequence.length;
  }
}
