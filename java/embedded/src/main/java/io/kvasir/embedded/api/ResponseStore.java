package io.kvasir.embedded.api;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Responses by id, bounded by bytes. The least recently used ones are dropped.
 *
 * <p>Thread-safe; each call holds a lock for O(1), {@link #put} for O(dropped responses).
 */
final class ResponseStore {

  /** Bytes of an entry besides its contents, roughly. */
  private static final int OVERHEAD = 256;

  private final long maxBytes;
  private final Map<String, Stored> byId = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /**
   * A stored response. The arrays must not be changed.
   *
   * @param response the response as JSON
   * @param items the items of its conversation up to and including the answer, as a JSON array
   */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
  record Stored(byte[] response, byte[] items) {

    long bytes() {
      return OVERHEAD + (long) response.length + items.length;
    }
  }

  /**
   * Creates an empty store.
   *
   * @param maxBytes most bytes of all responses together, at least 0
   */
  ResponseStore(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Adds a response; one that is larger than the whole store is not kept. */
  synchronized void put(String id, Stored response) {
    remove(id);
    if (response.bytes() > maxBytes) {
      return;
    }
    byId.put(id, response);
    bytes += response.bytes();
    Iterator<Stored> oldest = byId.values().iterator();
    while (bytes > maxBytes) {
      bytes -= oldest.next().bytes();
      oldest.remove();
    }
  }

  /** A response; null if it is unknown or was dropped. */
  synchronized @Nullable Stored get(String id) {
    return byId.get(id);
  }

  /** Removes a response; false if it is unknown or was dropped. */
  synchronized boolean remove(String id) {
    Stored removed = byId.remove(id);
    bytes -= removed == null ? 0 : removed.bytes();
    return removed != null;
  }

  /** Bytes of all responses together. */
  synchronized long bytes() {
    return bytes;
  }
}
