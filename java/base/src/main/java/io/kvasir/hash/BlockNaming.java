package io.kvasir.hash;

/** How the sequence hashes of blocks are made. Hashes of different namings cannot be compared. */
public sealed interface BlockNaming permits HashFormat, TrtllmHash {

  /**
   * The name in options and files.
   *
   * @return for example {@code kvasir} or {@code trtllm-v1}
   */
  String id();
}
