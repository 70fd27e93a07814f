package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;
import io.kvasir.gateway.keys.KeyUse;
import org.jspecify.annotations.Nullable;

/**
 * A request without its body. Immutable by contract.
 *
 * @param method the method
 * @param target the normal spelling of path and query
 * @param headers the client's fields
 * @param client the client's address
 * @param key the client's key; null where no keys are needed
 */
record RequestHead(
    String method, String target, Headers headers, String client, @Nullable KeyUse key) {

  /** The request of a client without a key. */
  RequestHead(String method, String target, Headers headers, String client) {
    this(method, target, headers, client, null);
  }

  /** Whether the client may use a model. */
  boolean allows(String model) {
    return key == null || key.key().limits().allows(model);
  }

  /** Whether the client may use some models only. */
  boolean isLimited() {
    return key != null && !key.key().limits().models().isEmpty();
  }
}
