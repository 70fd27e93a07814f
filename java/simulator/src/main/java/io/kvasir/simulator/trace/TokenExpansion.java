package io.kvasir.simulator.trace;

import java.util.Objects;

/**
 * Expands seeds to tokens: equal (seed, position) give equal tokens on every platform, and
 * different seeds give unrelated ones.
 *
 * <p>Within a domain the seed is a bijection of the id, so two ids never share a seed. Each 64-bit
 * mix of (seed, position / 2) yields two tokens by multiplying its halves into the vocabulary.
 * Thread-safe.
 */
public final class TokenExpansion {

  /** Tokens are below this number. */
  public static final int VOCABULARY = 128_000;

  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private TokenExpansion() {}

  /**
   * The seed of a piece of content.
   *
   * @param domain the kind of content; domains are unrelated
   * @param name the number of the piece in its domain
   * @return the seed; a bijection of {@code name} for each domain
   */
  public static long seed(long domain, long name) {
    return mix(mix(domain + GOLDEN) + name);
  }

  /**
   * Writes the first tokens of a seed's content; a shorter range holds a prefix of a longer one.
   * About a nanosecond per token.
   *
   * @param seed the seed of the content
   * @param tokens receives the tokens
   * @param from first index written; it receives position 0
   * @param to end of the range
   * @throws IndexOutOfBoundsException if the range lies outside the array
   */
  public static void fill(long seed, int[] tokens, int from, int to) {
    Objects.checkFromToIndex(from, to, tokens.length);
    int pairs = (to - from) >> 1;
    for (int pair = 0; pair < pairs; pair++) {
      long bits = mix(seed + pair * GOLDEN);
      tokens[from + 2 * pair] = high(bits);
      tokens[from + 2 * pair + 1] = low(bits);
    }
    if (((to - from) & 1) != 0) {
      tokens[to - 1] = high(mix(seed + pairs * GOLDEN));
    }
  }

  /**
   * A bijective 64-bit mix (Stafford's variant 13 of the MurmurHash3 finalizer).
   *
   * @param value any number
   * @return a number each bit of which depends on every bit of {@code value}
   */
  public static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }

  private static int high(long bits) {
    return (int) (((bits >>> 32) * VOCABULARY) >>> 32);
  }

  private static int low(long bits) {
    return (int) (((bits & 0xffff_ffffL) * VOCABULARY) >>> 32);
  }
}
