package io.kvasir.hash;

import io.kvasir.model.Choice;

/**
 * The named block hash formats. Names are those of options and configuration files; how each is
 * computed and how LoRA and salt enter is written in {@code
 * native/include/kvasir/block_hash_core.hpp}.
 */
public enum HashFormat implements BlockNaming {
  /** Kvasir's own: unseeded XXH3-64 of each block, then a parent mix; the default. */
  KVASIR("kvasir", 0),
  /** Dynamo's: XXH3-64 with seed 1337 for blocks and for the chain. */
  DYNAMO("dynamo", 1),
  /** TensorRT-LLM's {@code v1_block_key}. */
  TRTLLM_V1("trtllm-v1", 2);

  private final String id;
  private final int nativeNumber;

  HashFormat(String id, int nativeNumber) {
    this.id = id;
    this.nativeNumber = nativeNumber;
  }

  @Override
  public String id() {
    return id;
  }

  /**
   * The format of a name, as {@link #id()} spells it.
   *
   * @param id the name
   * @return the format
   * @throws IllegalArgumentException listing the allowed names
   */
  public static HashFormat parse(String id) {
    return Choice.named("hash format", values(), HashFormat::id, id);
  }

  /** The format's number in the native library, {@code kvasir::HashFormat}. */
  public int nativeNumber() {
    return nativeNumber;
  }
}
