package io.kvasir.model;

/**
 * Folds words into a 64-bit digest that tells sequences apart, their order included.
 *
 * <p>For a given word a fold is a bijection of the digest, and for a given digest one of the word:
 * two sequences that differ in one word never agree, others agree with a probability near
 * 2<sup>-64</sup>. It is no defence against somebody who looks for collisions. The same in every
 * process and on every machine. Stateless.
 */
public final class Digest64 {

  /** The digest of nothing. */
  public static final long EMPTY = 0x243f6a8885a308d3L;

  private static final long MULTIPLIER = 0x9fb21c651e98df25L;

  private Digest64() {}

  /**
   * Adds a word. Costs a multiplication.
   *
   * @param digest of what came before
   * @param word the word
   * @return the digest of both
   */
  public static long fold(long digest, long word) {
    long product = (Long.rotateLeft(digest, 23) ^ word) * MULTIPLIER;
    return product ^ (product >>> 32);
  }

  /**
   * Adds a text. Costs a fold once the text knows its own hash.
   *
   * @param digest of what came before
   * @param text the text, or null, which differs from every text
   * @return the digest of both
   */
  public static long fold(long digest, String text) {
    return text == null
        ? fold(digest, -1L)
        : fold(digest, (long) text.length() << 32 | Integer.toUnsignedLong(text.hashCode()));
  }
}
