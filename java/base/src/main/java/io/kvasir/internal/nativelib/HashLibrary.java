package io.kvasir.internal.nativelib;

import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.CriticalRegion;
import org.bytedeco.javacpp.annotation.Platform;

/**
 * The native functions of block hashing, as {@code native/jni/hash_bridge.hpp} declares them.
 *
 * <p>JavaCPP generates the C++ glue from this class. Arguments are not checked: a wrong address or
 * length crashes the process. Arrays are pinned, not copied, so calls that take them are short.
 */
@Platform(include = "bridge.hpp", library = "jnikvasir")
public final class HashLibrary {

  static {
    LibraryLoader.requireLoaded();
  }

  private HashLibrary() {}

  /**
   * Hashes the full blocks of a range, continuing the chain.
   *
   * @param format number of the format
   * @param scopeMask {@code CacheScope.presenceMask()} of the scope
   * @param loraId the adapter's id, or 0
   * @param saltId the salt's id, or 0
   * @param tokens the sequence from its first token
   * @param tokensPerBlock at least 1
   * @param fromBlock first block
   * @param toBlock end of the range
   * @param local receives local hashes, by block
   * @param sequence receives sequence hashes, by block
   */
  @CriticalRegion
  public static native void kvasir_hash_blocks(
      int format,
      long scopeMask,
      long loraId,
      long saltId,
      @Cast("const uint32_t*") int[] tokens,
      int tokensPerBlock,
      int fromBlock,
      int toBlock,
      @Cast("uint64_t*") long[] local,
      @Cast("uint64_t*") long[] sequence);

  /**
   * What the chain of the kvasir format starts from.
   *
   * @param scopeMask {@code CacheScope.presenceMask()} of the scope
   * @param loraId the adapter's id, or 0
   * @param saltId the salt's id, or 0
   * @return the parent of a sequence's first block
   */
  @Cast("int64_t")
  public static native long kvasir_hash_root(long scopeMask, long loraId, long saltId);

  /**
   * The v1 block key of one block, full or partial.
   *
   * @param scopeMask {@code CacheScope.presenceMask()} of the scope
   * @param loraId the adapter's id, or 0
   * @param saltId the salt's id, or 0
   * @param parent key of the previous block, or 0
   * @param tokens an array that holds the block
   * @param fromToken the block's first token
   * @param toToken the block's end
   * @return the key
   */
  @CriticalRegion
  @Cast("int64_t")
  public static native long kvasir_trtllm_v1_block_key(
      long scopeMask,
      long loraId,
      long saltId,
      long parent,
      @Cast("const uint32_t*") int[] tokens,
      int fromToken,
      int toToken);

  /**
   * The v1 block keys of a prompt without its last token.
   *
   * @param scopeMask {@code CacheScope.presenceMask()} of the scope
   * @param loraId the adapter's id, or 0
   * @param saltId the salt's id, or 0
   * @param tokens the prompt
   * @param tokenCount its length
   * @param tokensPerBlock at least 1
   * @param keys receives the keys
   */
  @CriticalRegion
  public static native void kvasir_trtllm_v1_prompt_keys(
      long scopeMask,
      long loraId,
      long saltId,
      @Cast("const uint32_t*") int[] tokens,
      int tokenCount,
      int tokensPerBlock,
      @Cast("uint64_t*") long[] keys);

  /**
   * XXH3-64 of bytes.
   *
   * @param bytes the bytes
   * @param count number of bytes
   * @param seed the seed, 0 for none
   * @return the hash
   */
  @CriticalRegion
  @Cast("int64_t")
  public static native long kvasir_xxh3_64(
      @Cast("const uint8_t*") byte[] bytes, int count, long seed);
}
