package io.kvasir.hash;

import io.kvasir.model.CacheScope;
import io.kvasir.model.Errors;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The block hashes in TensorRT-LLM's events, selected by its option {@code
 * kv_cache_event_hash_algo}. All of them exclude a prompt's last token and include a partial last
 * block. Pools hash full blocks only, so these are not values of {@link HashFormat}.
 */
public enum TrtllmHash implements BlockNaming {
  /** 64-bit block keys: {@link TrtllmBlockKeys}. {@code auto} selects these. */
  V1_BLOCK_KEY("v1_block_key", "trtllm-v1"),
  /** SHA-256 digests, published in hexadecimal: {@link TrtllmSha256Keys}. */
  V2_SHA256("v2_sha256", "trtllm-v2-sha256"),
  /** The first 64 bits of the digests of {@link #V2_SHA256}, published as numbers. */
  V2_SHA256_64("v2_sha256_64", "trtllm-v2-sha256-64");

  private static final String AUTO = "auto";

  private final String algorithm;
  private final String id;

  TrtllmHash(String algorithm, String id) {
    this.algorithm = algorithm;
    this.id = id;
  }

  /** {@return TensorRT-LLM's name of the algorithm, for example {@code v1_block_key}} */
  public String algorithm() {
    return algorithm;
  }

  @Override
  public String id() {
    return id;
  }

  /**
   * Finds an algorithm by its {@link #algorithm()} or {@link #id()}; {@code auto} is {@link
   * #V1_BLOCK_KEY}.
   *
   * @param name the name
   * @return the algorithm
   * @throws IllegalArgumentException listing the allowed names
   */
  public static TrtllmHash named(String name) {
    if (AUTO.equals(name)) {
      return V1_BLOCK_KEY;
    }
    for (TrtllmHash hash : values()) {
      if (hash.algorithm.equals(name) || hash.id.equals(name)) {
        return hash;
      }
    }
    String allowed =
        Arrays.stream(values()).map(TrtllmHash::algorithm).collect(Collectors.joining(", "));
    throw new IllegalArgumentException(
        "block hash must be one of "
            + AUTO
            + ", "
            + allowed
            + ", not '"
            + Errors.shown(name)
            + "'");
  }

  /**
   * The keys of a prompt's blocks as 64-bit numbers; digests in their short form. O(tokens).
   *
   * @param prompt the prompt's tokens
   * @param tokensPerBlock tokens in a full block, at least 1
   * @param scope LoRA adapter and salt
   * @return {@link TrtllmBlockKeys#promptBlocks} keys, each chained to the previous one
   * @throws IllegalArgumentException if {@code tokensPerBlock} is out of range
   */
  public long[] keys(int[] prompt, int tokensPerBlock, CacheScope scope) {
    if (this == V1_BLOCK_KEY) {
      return TrtllmBlockKeys.ofPrompt(prompt, tokensPerBlock, scope);
    }
    byte[] digests = TrtllmSha256Keys.ofPrompt(prompt, tokensPerBlock, scope);
    long[] keys = new long[digests.length / TrtllmSha256Keys.DIGEST_BYTES];
    Arrays.setAll(keys, block -> TrtllmSha256Keys.shortForm(digests, block));
    return keys;
  }
}
