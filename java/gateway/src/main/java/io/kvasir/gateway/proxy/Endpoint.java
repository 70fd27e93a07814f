package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.tokens.TokenRequest;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The endpoints of engines that the gateway distinguishes. */
enum Endpoint {
  CHAT_COMPLETIONS("/v1/chat/completions", true),
  COMPLETIONS("/v1/completions", true),
  MESSAGES("/v1/messages", true),
  RESPONSES("/v1/responses", true),
  COUNT_TOKENS("/v1/messages/count_tokens", false),
  EMBEDDINGS("/v1/embeddings", false),
  TOKENIZE("/tokenize", false),
  DETOKENIZE("/detokenize", false),
  /** SGLang's own. */
  GENERATE(TokenRequest.GENERATE, true),
  /** vLLM's, for prompts of tokens. */
  INFERENCE_GENERATE("/inference/v1/generate", true),
  /** SageMaker's: a body of any other endpoint. */
  INVOCATIONS("/invocations", true),
  SCORE("/score", false),
  RERANK("/rerank", false),
  POOLING("/pooling", false),
  CLASSIFY("/classify", false),
  /** Every other path under {@code /v1/}, and those that an operator lets pass. */
  OTHER("/v1/", false);

  /** Paths of engines that change them. A fleet's worker must not change alone. */
  private static final Set<String> ADMINISTRATIVE =
      Set.of("/v1/load_lora_adapter", "/v1/unload_lora_adapter");

  /** Further paths of endpoints. */
  private static final Map<String, Endpoint> ALIASES =
      Map.of("/v1/score", SCORE, "/v1/rerank", RERANK, "/v2/rerank", RERANK);

  private final String path;
  private final boolean generates;
  private final String id;
  private final String posted;

  Endpoint(String path, boolean generates) {
    this.path = path;
    this.generates = generates;
    this.id = name().toLowerCase(Locale.ROOT);
    this.posted = "POST " + path;
  }

  /** The path; the prefix of all paths of {@link #OTHER}. */
  String path() {
    return path;
  }

  /** The name in metrics and logs. */
  String id() {
    return id;
  }

  /** The name of the spans of its POST requests, which nearly all are. */
  String posted() {
    return posted;
  }

  /** Whether its requests have a prompt and an answer, so that a fleet router places them. */
  boolean generates() {
    return generates;
  }

  /**
   * The endpoint whose prompts have the form of a body's.
   *
   * @param body a body of this endpoint
   */
  String promptPath(BodyScan body) {
    if (this == INVOCATIONS && body.isChat()) {
      return TokenRequest.CHAT;
    }
    return this == INVOCATIONS && body.has(BodyField.PROMPT) ? TokenRequest.COMPLETIONS : path;
  }

  /** Whether {@code stream_options.include_usage} asks for the usage of a stream. */
  boolean hasUsageOption() {
    return this == CHAT_COMPLETIONS || this == COMPLETIONS;
  }

  /**
   * Whether the model computes its prompts; otherwise they are only counted or written in tokens.
   */
  boolean computes() {
    return this != COUNT_TOKENS && this != TOKENIZE && this != DETOKENIZE;
  }

  /** Whether engines take a salt of cached blocks in its bodies. */
  boolean hasCacheSalt() {
    return hasUsageOption()
        || this == RESPONSES
        || this == INVOCATIONS
        || this == INFERENCE_GENERATE;
  }

  /**
   * The endpoint of a path; null if the gateway does not serve it.
   *
   * @param path its normal spelling, without a query
   * @param passed further paths that pass
   */
  static @Nullable Endpoint of(String path, PassPaths passed) {
    for (Endpoint endpoint : values()) {
      if (endpoint != OTHER && endpoint.path.equals(path)) {
        return endpoint;
      }
    }
    Endpoint alias = ALIASES.get(path);
    if (alias != null) {
      return alias;
    }
    boolean passes = path.startsWith(OTHER.path) || passed.has(path);
    return passes && !isAdministrative(path) ? OTHER : null;
  }

  /** Whether a path changes an engine. */
  static boolean isAdministrative(String path) {
    return ADMINISTRATIVE.contains(path);
  }
}
