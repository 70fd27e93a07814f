package io.kvasir.hash;

import io.kvasir.internal.nativelib.HashLibrary;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Checks;
import java.util.Objects;

/**
 * Hashes blocks in the native library. Input and output are Java arrays, without a copy.
 *
 * <p>Thread-safe and stateless. {@link #hashBlocks} pins its arrays and delays garbage collection
 * while it runs, which is microseconds for a long prompt.
 */
public final class NativeBlockHasher implements BlockHasher {

  private static final long MULTIPLIER = 0x0E9846AF9B1A615DL;

  private final HashFormat format;
  private final int tokensPerBlock;

  private NativeBlockHasher(HashFormat format, int tokensPerBlock) {
    this.format = format;
    this.tokensPerBlock = tokensPerBlock;
  }

  /**
   * A hasher of one format and block size.
   *
   * @param format the format
   * @param tokensPerBlock tokens in a full block; 16, 32, 64 and 128 are the fastest
   * @return the hasher
   * @throws IllegalArgumentException if {@code tokensPerBlock} is less than 1
   */
  public static NativeBlockHasher of(HashFormat format, int tokensPerBlock) {
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    return new NativeBlockHasher(Objects.requireNonNull(format, "format"), tokensPerBlock);
  }

  /**
   * What the chain of the {@link HashFormat#KVASIR} format starts from: the sequence hash before
   * the first block. A source of local hashes passes it on as the root of a prompt with a scope.
   *
   * @param scope LoRA adapter and salt
   * @return the hash
   */
  public static long root(CacheScope scope) {
    return HashLibrary.kvasir_hash_root(scope.presenceMask(), scope.loraTaskId(), scope.saltId());
  }

  /**
   * A sequence hash of the {@link HashFormat#KVASIR} format, as {@code kvasir_mix} of the native
   * library makes it.
   *
   * @param parent the sequence hash of the block before, or the {@link #root}
   * @param local the local hash of the block
   * @return the block's sequence hash
   */
  public static long chain(long parent, long local) {
    long x = parent ^ local;
    x = (x ^ (x >>> 32)) * MULTIPLIER;
    x = (x ^ (x >>> 32)) * MULTIPLIER;
    return x ^ (x >>> 28);
  }

  @Override
  public HashFormat format() {
    return format;
  }

  @Override
  public int tokensPerBlock() {
    return tokensPerBlock;
  }

  @Override
  public void hashBlocks(
      CacheScope scope, int[] tokens, int fromBlock, int toBlock, long[] local, long[] sequence) {
    Objects.checkFromToIndex(fromBlock, toBlock, tokens.length / tokensPerBlock);
    Objects.checkFromToIndex(fromBlock, toBlock, local.length);
    Objects.checkFromToIndex(fromBlock, toBlock, sequence.length);
    if (fromBlock == toBlock) {
      return;
    }
    HashLibrary.kvasir_hash_blocks(
        format.nativeNumber(),
        scope.presenceMask(),
        scope.loraTaskId(),
        scope.saltId(),
        tokens,
        tokensPerBlock,
        fromBlock,
        toBlock,
        local,
        sequence);
  }
}
