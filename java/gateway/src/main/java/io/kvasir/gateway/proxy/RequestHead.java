package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;

/**
 * A request without its body. Immutable by contract.
 *
 * @param method the method
 * @param target the normal spelling of path and query
 * @param headers the client's fields
 * @param client the client's address
 */
record RequestHead(String method, String target, Headers headers, String client) {}
