package io.kvasir.model;

import org.jspecify.annotations.Nullable;

/**
 * Folds words into a 64-bit digest of a sequence. The order of the words matters.
 *
 * <p>For a fixed word, a fold is a bijection of the digest; for a fixed digest, a bijection of the
 * word. Two sequences that differ in exactly one word therefore have different digests. Other
 * sequences collide with a probability near 2<sup>-64</sup>. The digest is not cryptographic. It is
 * the same in every process and on every machine. Stateless.
 */
public final class Digest64 {

  /** The digest of the empty sequence. */
  public static final long EMPTY = 0x243f6a8885a308d3L;

  private static final long MULTIPLIER = 0x9fb21c651e98df25L;

  private Digest64() {}

  /**
   * Adds a word. One multiplication.
   *
   * @param digest the digest so far
   * @param word the word
   * @return the new digest
   */
  public static long fold(long digest, long word) {
    long product = (Long.rotateLeft(digest, 23) ^ word) * MULTIPLIER;
    return product ^ (product >>> 32);
  }

  /**
   * Adds a text. O(1) once {@link String#hashCode} is cached, else O(length).
   *
   * @param digest the digest so far
   * @param text the text, or null; null differs from every text
   * @return the new digest
   */
  public static long fold(long digest, @Nullable String text) {
    return text == null
        ? fold(digest, -1L)
        : fold(digest, (long) text.length() << 32 | Integer.toUnsignedLong(text.hashCode()));
  }
}
