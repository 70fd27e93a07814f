package io.kvasir.exchange.http;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The ended replies of HTTP/2 on one event loop whose last bytes wait for their clients. Where they
 * are more than {@value #MAX_BYTES} bytes together, those that have waited longest are reset; the
 * newest is not. Confined to the event loop.
 */
final class UnreadReplies {

  /** Most bytes that wait. */
  static final long MAX_BYTES = 16 << 20;

  private final Map<Runnable, Long> waiting = new LinkedHashMap<>();
  private long bytes;

  /**
   * A reply begins to wait.
   *
   * @param reset ends it, which calls {@link #remove} now or later
   * @param size its bytes that have not left
   */
  void add(Runnable reset, long size) {
    waiting.put(reset, size);
    bytes += size;
    while (bytes > MAX_BYTES && waiting.size() > 1) {
      Runnable oldest = waiting.keySet().iterator().next();
      remove(oldest);
      oldest.run();
    }
  }

  /** A reply has left or was reset; no effect if it does not wait. */
  void remove(Runnable reset) {
    Long size = waiting.remove(reset);
    if (size != null) {
      bytes -= size;
    }
  }
}
