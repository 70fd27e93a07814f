package io.kvasir.hash;

import io.kvasir.model.CacheScope;

/**
 * Hashes blocks of tokens under one format and one block size.
 *
 * <p>Implementations are thread-safe and stateless.
 */
public interface BlockHasher {

  /** {@return the format that this hasher computes} */
  HashFormat format();

  /** {@return the number of tokens in a full block, at least 1} */
  int tokensPerBlock();

  /**
   * Hashes the full blocks {@code fromBlock} (inclusive) to {@code toBlock} (exclusive) of a
   * sequence, continuing its chain. O(tokens hashed); one native call.
   *
   * @param scope LoRA adapter and salt of the whole sequence
   * @param tokens the sequence from its first token; at least {@code toBlock * tokensPerBlock()}
   *     tokens
   * @param fromBlock first block to hash; the chain is read from {@code sequence[fromBlock - 1]}
   * @param toBlock end of the range
   * @param local receives the local hash of block i at index i
   * @param sequence receives the sequence hash of block i at index i
   * @throws IndexOutOfBoundsException if an array is too short for the range
   */
  void hashBlocks(
      CacheScope scope, int[] tokens, int fromBlock, int toBlock, long[] local, long[] sequence);

  /**
   * Hashes all full blocks of a sequence. A partial last block is not hashed.
   *
   * @param tokens the whole sequence
   * @param scope its LoRA adapter and salt
   * @return {@code floor(tokens / tokensPerBlock())} hashes
   */
  default BlockHashes hash(int[] tokens, CacheScope scope) {
    int blocks = tokens.length / tokensPerBlock();
    BlockHashes hashes = new BlockHashes(new long[blocks], new long[blocks]);
    hashBlocks(scope, tokens, 0, blocks, hashes.local(), hashes.sequence());
    return hashes;
  }
}
