package io.kvasir.benchmarks.index;

import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.hash.HashFormat;

/** The measured indexes, by their names in options and reports. */
public enum IndexKind {
  /** The production index: {@link NativePrefixIndex}. */
  NATIVE("native"),
  /** The baseline: a path-compressed radix tree in Java. */
  RADIX("java-radix");

  private final String id;

  IndexKind(String id) {
    this.id = id;
  }

  /** {@return the index's name} */
  public String id() {
    return id;
  }

  /**
   * Creates an empty index for sequence hashes of the {@code kvasir} format.
   *
   * @return the index; the caller closes it
   */
  public PrefixIndex create() {
    return switch (this) {
      case NATIVE -> new NativePrefixIndex(HashFormat.KVASIR, BlockContents.TOKENS, Long.MAX_VALUE);
      case RADIX -> new RadixIndex();
    };
  }
}
