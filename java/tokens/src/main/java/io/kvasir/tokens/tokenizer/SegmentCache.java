package io.kvasir.tokens.tokenizer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Token ids of segments by their text, within a bound of memory; the least recently used go first.
 * Thread-safe: one lock, held for a look-up.
 *
 * <p>A text is known by half of its SHA-256, so that no client can make two texts collide.
 */
final class SegmentCache {

  /** An entry, its key and their places in a map, without the ids. */
  private static final int ENTRY_BYTES = 128;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

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
   * The first 128 bits of a SHA-256.
   *
   * @param high the first 64
   * @param low the other 64
   */
  record Key(long high, long low) {}

  /**
   * The key of a segment. O(its length).
   *
   * @param segment well-formed text
   * @param sha256 a hash that is not in use
   * @return its key
   */
  static Key key(String segment, MessageDigest sha256) {
    byte[] digest = sha256.digest(segment.getBytes(StandardCharsets.UTF_8));
    return new Key((long) LONGS.get(digest, 0), (long) LONGS.get(digest, Long.BYTES));
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
