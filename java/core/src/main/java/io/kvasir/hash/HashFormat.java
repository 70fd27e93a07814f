package io.kvasir.hash;

/** The named block hash formats. Names are those of options and configuration files. */
public enum HashFormat {
  /** Kvasir's own: unseeded XXH3-64 of each block, then a parent mix; the default. */
  KVASIR("kvasir"),
  /** Dynamo's: XXH3-64 with seed 1337 for blocks and for the chain. */
  DYNAMO("dynamo"),
  /** TensorRT-LLM's {@code v1_block_key}. */
  TRTLLM_V1("trtllm-v1");

  private final String id;

  HashFormat(String id) {
    this.id = id;
  }

  /**
   * The format's name in options and files.
   *
   * @return the name
   */
  public String id() {
    return id;
  }
}
