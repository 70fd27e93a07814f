package io.kvasir.simulator.fleet;

import io.kvasir.hash.HashedRequest;
import org.jspecify.annotations.Nullable;

/** The pools of workers between which KV moves (port). Confined to the replay's thread. */
public interface KvWorkers {

  /**
   * Room for a prompt's KV at a decode worker.
   *
   * @param request the request as the worker receives it, on the rank that has the room
   * @param missingTokens tokens of its prompt that the rank lacked
   */
  record Room(HashedRequest request, int missingTokens) {}

  /**
   * Moves the end of a transfer; until then the prefill rank keeps the blocks.
   *
   * @param prefillWorker the prefill worker
   * @param requestId the request
   * @param endNs its end, or {@link io.kvasir.simulator.workload.Arrivals#NEVER}
   */
  void endTransferAt(int prefillWorker, long requestId, long endNs);

  /**
   * Reserves room for a prompt.
   *
   * @param decodeWorker the decode worker
   * @param request the request; on any rank if it names none
   * @return the room; null if there is none now
   */
  @Nullable Room reserve(int decodeWorker, HashedRequest request);

  /**
   * Stores the KV that has come into the room reserved for it, and frees the room: from now on the
   * blocks are cached.
   *
   * @param decodeWorker the decode worker
   * @param requestId the request
   * @param nowNs the time
   */
  void store(int decodeWorker, long requestId, long nowNs);

  /**
   * {@return the most tokens of a prompt that a decode rank holds}
   *
   * @param request the request
   */
  long mostMatchedTokens(HashedRequest request);
}
