package io.kvasir.tokens.tokenizer;

import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Token ids of segments by their text, within a bound of memory; the least recently used go first.
 * Thread-safe: one lock, held for a look-up.
 *
 * <p>A text is known by the values of a polynomial, whose coefficients are its characters, at two
 * secret random points of a field of 2<sup>61</sup> - 1 elements (Carter and Wegman's universal
 * hashing). Two texts of n characters collide with a probability below (n / 2<sup>59</sup>)², even
 * if a client chooses them, because the points are secret.
 */
final class SegmentCache {

  /** An entry, its key and their places in a map, without the ids. */
  private static final int ENTRY_BYTES = 128;

  /** A Mersenne prime. */
  private static final long PRIME = (1L << 61) - 1;

  private static final long FIRST_POINT;
  private static final long SECOND_POINT;

  static {
    SecureRandom random = new SecureRandom();
    FIRST_POINT = randomPoint(random);
    SECOND_POINT = randomPoint(random);
  }

  private final long maxBytes;
  private final Map<Key, int[]> segments = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /**
   * Makes an empty cache.
   *
   * @param maxBytes the bound of its memory
   */
  SegmentCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Two hashes of a text.
   *
   * @param first with the first secret point
   * @param second with the other
   */
  record Key(long first, long second) {}

  /**
   * The key of a segment. O(its length), nothing is allocated but the key.
   *
   * @param text a text
   * @param start where the segment begins
   * @param end where it ends
   * @return its key
   */
  static Key key(CharSequence text, int start, int end) {
    long first = 1L + end - start;
    long second = first;
    for (int i = start; i < end; i += 3) {
      long word = text.charAt(i);
      word |= i + 1 < end ? (long) text.charAt(i + 1) << 16 : 0;
      word |= i + 2 < end ? (long) text.charAt(i + 2) << 32 : 0;
      first = fold(first, FIRST_POINT, word);
      second = fold(second, SECOND_POINT, word);
    }
    return new Key(first, second);
  }

  /** {@code (hash * point + word)} modulo 2<sup>61</sup> - 1; all are smaller than that. */
  private static long fold(long hash, long point, long word) {
    long low = hash * point;
    long high = Math.multiplyHigh(hash, point);
    long sum = (low & PRIME) + (low >>> 61 | high << 3);
    sum = (sum & PRIME) + (sum >>> 61) + word;
    return sum >= PRIME ? sum - PRIME : sum;
  }

  private static long randomPoint(SecureRandom random) {
    return (random.nextLong() & PRIME >> 1) | 1L << 59;
  }

  /**
   * Looks a segment up.
   *
   * @param key its key
   * @return its ids, which must not be changed, or null
   */
  synchronized int @Nullable [] get(Key key) {
    return segments.get(key);
  }

  /**
   * Keeps a segment, unless it would fill half of the cache.
   *
   * @param key its key
   * @param ids its ids, not changed from now on
   */
  synchronized void put(Key key, int[] ids) {
    if (bytes(ids) > maxBytes / 2) {
      return;
    }
    int[] former = segments.put(key, ids);
    bytes += bytes(ids) - (former == null ? 0 : bytes(former));
    var oldest = segments.values().iterator();
    while (bytes > maxBytes) {
      bytes -= bytes(oldest.next());
      oldest.remove();
    }
  }

  /** {@return the memory of all entries, in bytes} */
  synchronized long bytes() {
    return bytes;
  }

  private static long bytes(int[] ids) {
    return ENTRY_BYTES + (long) Integer.BYTES * ids.length;
  }
}
