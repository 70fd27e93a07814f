package io.kvasir.fleet.router.trtllm;

import io.kvasir.event.BlockEvent;
import java.io.IOException;
import java.util.List;

/**
 * Fetches what changed in a server's KV cache (port); in production {@code POST /kv_cache_events}.
 *
 * <p>Implementations are thread-safe. Fetching drains: an event is told once.
 */
@FunctionalInterface
public interface CacheEventSource {

  /**
   * Fetches the events since the last call. May block.
   *
   * @param server the server's name
   * @return the events, oldest first
   * @throws IOException if the server cannot be asked
   */
  List<BlockEvent> poll(String server) throws IOException;
}
