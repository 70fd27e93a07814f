package io.kvasir.hash;

/** How sequence hashes are computed. Hashes of different namings are not comparable. */
public sealed interface BlockNaming permits HashFormat, TrtllmHash {

  /**
   * {@return the naming's id in options and files, for example {@code kvasir} or {@code trtllm-v1}}
   */
  String id();
}
