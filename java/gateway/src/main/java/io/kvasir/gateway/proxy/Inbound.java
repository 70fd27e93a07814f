package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.Headers;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.gateway.keys.KeyUse;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.ContinuedInput;
import io.kvasir.gateway.openai.NamedConversation;
import io.kvasir.gateway.openai.PlainFields;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.gateway.tokens.StoredTurns;
import io.kvasir.gateway.tokens.TokenRequest;
import io.kvasir.gateway.verify.Witness;
import io.kvasir.model.CacheScope;
import org.jspecify.annotations.Nullable;

/**
 * A request as the gateway received it. The body is kept while an attempt may need it. Confined to
 * the request's event loop.
 */
final class Inbound {

  private static final Witness UNKNOWN = new Witness("");

  /** How often a conversation is in memory while it is joined. */
  private static final int WHOLE_COPIES = 3;

  private final String id;
  private final Endpoint endpoint;
  private final RequestHead head;
  private final HeldBody body;
  private final String model;
  private final boolean adapter;
  private final NamedConversation conversation;
  private final Urgency urgency;
  private final boolean explain;
  private final boolean injectsUsage;
  private @Nullable PromptTokens tokens;
  private Witness client = UNKNOWN;
  private RequestTrace trace = RequestTrace.NONE;
  private boolean passesTransfer;

  /**
   * Creates a request.
   *
   * @param id its id in logs and at engines
   * @param endpoint the endpoint
   * @param head method, target and fields
   * @param body the body
   * @param model the model that serves it; empty for any
   * @param adapter whether the model is a LoRA adapter
   * @param conversation the conversation that it names
   * @param urgency how soon the client needs the answer
   * @param explain whether the reply names the choice in its headers
   */
  Inbound(
      String id,
      Endpoint endpoint,
      RequestHead head,
      HeldBody body,
      String model,
      boolean adapter,
      NamedConversation conversation,
      Urgency urgency,
      boolean explain) {
    this.id = id;
    this.endpoint = endpoint;
    this.head = head;
    this.body = body;
    this.model = model;
    this.adapter = adapter;
    this.conversation = conversation;
    this.urgency = urgency;
    this.explain = explain;
    BodyScan scan = body.scan();
    this.injectsUsage =
        scan != null && endpoint.hasUsageOption() && scan.stream() && !scan.includesUsage();
  }

  String id() {
    return id;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  /** Has spans of the request, where it is traced. */
  void trace(RequestTrace spans) {
    trace = spans;
  }

  /** The request's spans. */
  RequestTrace trace() {
    return trace;
  }

  String method() {
    return head.method();
  }

  String target() {
    return head.target();
  }

  Headers headers() {
    return head.headers();
  }

  /** Method, target and fields. */
  RequestHead head() {
    return head;
  }

  String model() {
    return model;
  }

  NamedConversation conversation() {
    return conversation;
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

  /** Whether the client asks for a stream. False once the body was released. */
  boolean streams() {
    BodyScan scan = body.scan();
    return scan != null && scan.stream();
  }

  /** The scanned body; null if there is none, it is streamed, or it was released. */
  @Nullable BodyScan body() {
    return body.scan();
  }

  /** The bytes of a body that was read and is no JSON; null if it is none, or was released. */
  byte @Nullable [] opaque() {
    return body.opaque();
  }

  /** What the body holds of the budget; null without one. */
  @Nullable BodyHold hold() {
    return body.hold();
  }

  /** The beginning of a body that is streamed unread; null if there is none. */
  @Nullable UploadStart upload() {
    return body.upload();
  }

  /** Lets the body go: no attempt follows. May be repeated. */
  void releaseBody() {
    body.release();
  }

  /** The prompt, for routers; decoded once, when one needs it. */
  PromptSource prompt() {
    return body.prompt();
  }

  /**
   * Counts the tokens that a body has besides its prompt, before they are decoded.
   *
   * @throws BodyPrompt.NoRoom if the budget is used up
   */
  void chargeTokens(BodyScan of) {
    boolean has = of.has(BodyField.INPUT_IDS) || of.has(BodyField.PROMPT_TOKEN_IDS);
    if (has && body.prompt() instanceof BodyPrompt decodable) {
      decodable.charge();
    }
  }

  /**
   * What its tokens are made of: the whole conversation where it continues a stored response that
   * is known, and the budget has room. O(bytes).
   *
   * @param of its body
   * @param earlier the stored conversation that it continues
   */
  TokenRequest asked(BodyScan of, StoredTurns.Earlier earlier) {
    String path = endpoint.promptPath(of);
    BodyHold hold = body.hold();
    long bytes = WHOLE_COPIES * (of.length() + earlier.bytes());
    if (hold != null && !earlier.parts().isEmpty() && hold.take(bytes)) {
      BodyScan whole = ContinuedInput.join(of, earlier.parts());
      if (whole != null) {
        return new TokenRequest(path, model, whole, BodyPrompt.of(whole, hold));
      }
      hold.give(bytes);
    }
    return new TokenRequest(path, model, of, prompt());
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

  /** Whether the client's own fields of a transfer of KV reach the engine. */
  boolean passesTransfer() {
    return passesTransfer;
  }

  /** Lets the client's own fields of a transfer pass. */
  void passTransfer() {
    passesTransfer = true;
  }

  /**
   * Whether engines are known to store its prompt under the hashes of its tokens alone: it has no
   * images and the like, no adapter and no salt, and no field that could change the prompt. Any
   * thread may ask. O(bytes).
   */
  boolean isPlain() {
    BodyScan plain = body.scan();
    return plain != null
        && scope(plain).equals(CacheScope.NONE)
        && PlainFields.areAllOf(plain)
        && !plain.prompt().hasOtherContent();
  }

  /** What separates its blocks from those of other requests. */
  CacheScope scope() {
    return scope(body.scan());
  }

  private CacheScope scope(@Nullable BodyScan of) {
    String inBody = of == null ? null : of.adapter();
    String lora = inBody == null && adapter ? model : inBody;
    CacheScope scope =
        lora == null ? CacheScope.NONE : CacheScope.NONE.withLora(CacheScope.saltId(lora));
    String salt = of == null ? null : salt(of);
    return salt == null ? scope : scope.withSalt(salt);
  }

  /** The tenant of the client's key; empty where no keys are needed. */
  String tenant() {
    KeyUse key = head.key();
    return key == null ? "" : key.key().tenant();
  }

  /** The salt of the client's tenant at endpoints whose engines take salts; null for none. */
  @Nullable String tenantSalt() {
    KeyUse key = head.key();
    return key == null || !endpoint.hasCacheSalt() ? null : key.key().cacheSalt();
  }

  /** The salt that the engine receives: the tenant's, the body's, or both; null for none. */
  @Nullable String salt(BodyScan of) {
    String tenant = tenantSalt();
    String own = of.cacheSalt();
    if (tenant == null) {
      return own;
    }
    return own == null ? tenant : tenant + "." + own;
  }
}
