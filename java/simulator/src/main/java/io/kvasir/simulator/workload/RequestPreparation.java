package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;

/** Prepares a request for its arrival by hashing its prompt. */
@FunctionalInterface
public interface RequestPreparation {

  /**
   * Prepares a request.
   *
   * @param request the request
   * @param answeredTokens leading prompt tokens whose KV an earlier turn computed, its answer
   *     included; 0 for a first turn
   * @return the request with its hashes
   */
  HashedRequest prepare(Request request, int answeredTokens);
}
