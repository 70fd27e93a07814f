package io.kvasir.gateway.proxy;

import io.kvasir.fleet.router.Prompt;
import io.kvasir.gateway.exchange.Headers;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.PlainFields;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.gateway.verify.Witness;
import io.kvasir.model.CacheScope;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request as the gateway received it. The body is kept while an attempt may need it. Confined to
 * the request's event loop.
 */
final class Inbound {

  /** Stands for a prompt that the gateway cannot read, for example one of images only. */
  private static final Prompt UNREADABLE = new Prompt.Texts(List.of(""));

  private static final Witness UNKNOWN = new Witness("");

  private final String id;
  private final Endpoint endpoint;
  private final String method;
  private final String target;
  private final Headers headers;
  private final String model;
  private final boolean adapter;
  private final @Nullable String conversationId;
  private final Urgency urgency;
  private final boolean explain;
  private final boolean injectsUsage;
  private @Nullable BodyScan body;
  private @Nullable PromptTokens tokens;
  private Witness client = UNKNOWN;

  /**
   * Creates a request.
   *
   * @param id its id in logs and at engines
   * @param endpoint the endpoint
   * @param method the method
   * @param target path and query
   * @param headers the client's fields
   * @param body the scanned body; null if there is none or it is streamed unread
   * @param model the model that serves it; empty for any
   * @param adapter whether the model is a LoRA adapter
   * @param conversationId the conversation that it belongs to; null if it names none
   * @param urgency how soon the client needs the answer
   * @param explain whether the reply names the choice in its headers
   */
  Inbound(
      String id,
      Endpoint endpoint,
      String method,
      String target,
      Headers headers,
      @Nullable BodyScan body,
      String model,
      boolean adapter,
      @Nullable String conversationId,
      Urgency urgency,
      boolean explain) {
    this.id = id;
    this.endpoint = endpoint;
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.body = body;
    this.model = model;
    this.adapter = adapter;
    this.conversationId = conversationId;
    this.urgency = urgency;
    this.explain = explain;
    this.injectsUsage =
        body != null && endpoint.hasUsageOption() && body.stream() && !body.includesUsage();
  }

  String id() {
    return id;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  String method() {
    return method;
  }

  String target() {
    return target;
  }

  Headers headers() {
    return headers;
  }

  String model() {
    return model;
  }

  @Nullable String conversationId() {
    return conversationId;
  }

  Urgency urgency() {
    return urgency;
  }

  boolean explain() {
    return explain;
  }

  /** Whether the gateway asks for usage in the client's stead, and removes it from the reply. */
  boolean injectsUsage() {
    return injectsUsage;
  }

  /** Whether the client asks for a stream. False once the body was dropped. */
  boolean streams() {
    return body != null && body.stream();
  }

  /** The scanned body; null if there is none, it is streamed, or it was dropped. */
  @Nullable BodyScan body() {
    return body;
  }

  /** Frees the body: no attempt follows. */
  void dropBody() {
    body = null;
  }

  /** The prompt, for routers. O(bytes). */
  Prompt prompt() {
    Prompt prompt = body == null ? null : body.prompt();
    return prompt == null ? UNREADABLE : prompt;
  }

  /** The tokens of its prompts; null while no router needed them. */
  @Nullable PromptTokens tokens() {
    return tokens;
  }

  void tokens(PromptTokens found) {
    tokens = found;
  }

  /** Whose request it is, for evidence about engines. */
  Witness client() {
    return client;
  }

  /** Sets the client by its remote address. */
  void client(String remote) {
    client = Witness.at(remote);
  }

  /**
   * Whether engines are known to store its prompt under the hashes of its tokens alone: it has no
   * images and the like, no adapter and no salt, and no field that could change the prompt.
   * O(bytes).
   */
  boolean isPlain() {
    return body != null
        && scope().equals(CacheScope.NONE)
        && PlainFields.areAllOf(body)
        && !body.hasOtherContent();
  }

  /** What separates its blocks from those of other requests. */
  CacheScope scope() {
    CacheScope scope =
        adapter ? CacheScope.NONE.withLora(CacheScope.saltId(model)) : CacheScope.NONE;
    String salt = body == null ? null : body.cacheSalt();
    return salt == null ? scope : scope.withSalt(salt);
  }
}
