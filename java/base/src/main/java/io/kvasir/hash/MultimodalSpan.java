package io.kvasir.hash;

import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/**
 * The position of an image or another object in a prompt, as Dynamo hashes it. Immutable.
 *
 * @param from index of its first placeholder token
 * @param to index after its last placeholder token
 * @param hash hash of the object, an unsigned number
 */
public record MultimodalSpan(int from, int to, long hash) {

  private static final int DIGEST_DIGITS = 64;
  private static final int KEPT_DIGITS = 16;
  private static final long PAD_BASE = 1_000_000;
  private static final long PAD_MASK = (1L << 30) - 1;

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if {@code from} is negative or {@code to} is not above it
   */
  public MultimodalSpan {
    if (from < 0 || to <= from) {
      throw new IllegalArgumentException(
          "from must be at least 0 and below to, not " + from + " with to " + to);
    }
  }

  /**
   * The hash of an object from its identifier. If the identifier is a digest of 64 hexadecimal
   * digits, the hash is its first 16 digits; otherwise it is XXH3-64 of the text.
   *
   * @param identifier the identifier
   * @return the hash; empty for an empty identifier
   */
  public static OptionalLong hashOf(String identifier) {
    if (identifier.isEmpty()) {
      return OptionalLong.empty();
    }
    boolean digest =
        identifier.length() == DIGEST_DIGITS
            && identifier.chars().allMatch(digit -> digit < 128 && Character.digit(digit, 16) >= 0);
    return OptionalLong.of(
        digest
            ? Long.parseUnsignedLong(identifier, 0, KEPT_DIGITS, 16)
            : Xxh3.hash(identifier.getBytes(StandardCharsets.UTF_8), 0));
  }

  /**
   * The token that SGLang substitutes for an object.
   *
   * @param hash hash of the object
   * @return 1,000,000 plus the lowest 30 bits of the hash
   */
  public static int padToken(long hash) {
    return (int) (PAD_BASE + (hash & PAD_MASK));
  }
}
