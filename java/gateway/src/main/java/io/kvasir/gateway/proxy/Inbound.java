package io.kvasir.gateway.proxy;

import io.kvasir.fleet.router.Prompt;
import io.kvasir.gateway.exchange.Headers;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.model.CacheScope;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request whose body the gateway has read. Immutable.
 *
 * @param id its id in logs and at engines
 * @param endpoint the endpoint
 * @param method the method
 * @param target path and query
 * @param headers the client's fields
 * @param body the scanned body; null if there is none
 * @param model the model that serves it
 * @param conversationId the conversation that it belongs to; null if it names none
 * @param explain whether the reply names the choice in its headers
 */
record Inbound(
    String id,
    Endpoint endpoint,
    String method,
    String target,
    Headers headers,
    @Nullable BodyScan body,
    String model,
    @Nullable String conversationId,
    boolean explain) {

  /** Stands for a prompt that the gateway cannot read, for example one of images only. */
  private static final Prompt UNREADABLE = new Prompt.Texts(List.of(""));

  /** Whether the client asks for a stream of events. */
  boolean streams() {
    return body != null && body.stream();
  }

  /** The prompt, for routers. O(bytes). */
  Prompt prompt() {
    Prompt prompt = body == null ? null : body.prompt();
    return prompt == null ? UNREADABLE : prompt;
  }

  /** What separates its blocks from those of other requests. */
  CacheScope scope() {
    String salt = body == null ? null : body.cacheSalt();
    return salt == null ? CacheScope.NONE : CacheScope.NONE.withSalt(salt);
  }
}
