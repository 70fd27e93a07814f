package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * KV that a request gets from another engine. Immutable by contract.
 *
 * @param engine the address of the engine
 * @param key names the transfer there
 * @param engineId the engine that is meant; null for any
 * @param rank the rank that is meant; null if the other engine derives it
 * @param params what the request says about the transfer
 * @param wholePrompt whether the other engine has computed the same prompt; if not, it has a
 *     beginning of it
 * @param leastTokens missing tokens below which nothing is fetched
 * @param reported what the reply says about cached tokens
 */
record KvArrival(
    URI engine,
    String key,
    @Nullable String engineId,
    @Nullable Integer rank,
    ObjectNode params,
    boolean wholePrompt,
    int leastTokens,
    CachedTokens reported) {

  /** What a reply says about cached tokens. */
  enum CachedTokens {
    /** Those that are in the pool when the request runs, with those that have come. */
    OWN,

    /** Those that were in the pool of the engine that has computed the prompt. */
    OF_PREFILL
  }
}
