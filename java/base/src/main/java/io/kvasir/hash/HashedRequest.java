package io.kvasir.hash;

import io.kvasir.model.Request;

/**
 * A request with the hashes of its prompt's full blocks.
 *
 * <p>Immutable.
 *
 * @param request the request
 * @param hashes hashes of the prompt's full blocks, under the request's scope
 */
public record HashedRequest(Request request, BlockHashes hashes) {}
