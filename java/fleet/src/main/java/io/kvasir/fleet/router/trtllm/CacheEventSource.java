package io.kvasir.fleet.router.trtllm;

import io.kvasir.event.BlockEvent;
import java.io.IOException;
import java.util.List;

/**
 * Fetches the changes of a worker's KV cache (port); in production {@code POST /kv_cache_events}.
 *
 * <p>Implementations are thread-safe. Fetching drains: each event is returned once.
 */
@FunctionalInterface
public interface CacheEventSource {

  /**
   * Fetches the events since the last call. May block.
   *
   * @param workerId the worker's id
   * @return the events, oldest first
   * @throws IOException if the worker cannot be reached
   */
  List<BlockEvent> poll(long workerId) throws IOException;
}
