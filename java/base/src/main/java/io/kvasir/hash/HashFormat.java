package io.kvasir.hash;

import io.kvasir.model.Choice;

/**
 * The block hash formats, by their names in options and configuration files. {@code
 * native/include/kvasir/block_hash_core.hpp} defines how each is computed and how LoRA adapter and
 * salt enter.
 */
public enum HashFormat implements BlockNaming {
  /** Kvasir's own format and the default: unseeded XXH3-64 of each block, mixed with its parent. */
  KVASIR("kvasir", 0),
  /** Dynamo's format: XXH3-64 with seed 1337 for local and sequence hashes. */
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
   * Finds a format by its {@link #id()}.
   *
   * @param id the id
   * @return the format
   * @throws IllegalArgumentException listing the allowed ids, if no format has this one
   */
  public static HashFormat parse(String id) {
    return Choice.named("hash format", values(), HashFormat::id, id);
  }

  /** {@return the format's number in the native library, a value of {@code kvasir::HashFormat}} */
  public int nativeNumber() {
    return nativeNumber;
  }
}
