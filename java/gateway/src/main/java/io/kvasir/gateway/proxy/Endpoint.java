package io.kvasir.gateway.proxy;

import java.util.Locale;
import java.util.regex.Pattern;
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
  /** Every other path under {@code /v1/}. */
  OTHER("/v1/", false);

  /** A segment of one or two dots, however written, with which a path could leave {@code /v1/}. */
  private static final Pattern CLIMBS =
      Pattern.compile(
          "(?:[/\\\\]|%2f|%5c)(?:\\.|%2e){1,2}(?:[/\\\\;]|%2f|%5c|%3b|$)",
          Pattern.CASE_INSENSITIVE);

  private final String path;
  private final boolean generates;

  Endpoint(String path, boolean generates) {
    this.path = path;
    this.generates = generates;
  }

  /** The path; of {@link #OTHER}, what it begins with. */
  String path() {
    return path;
  }

  /** The name in metrics and logs. */
  String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether its requests have a prompt and an answer, so that a fleet router places them. */
  boolean generates() {
    return generates;
  }

  /** Whether {@code stream_options.include_usage} asks for the usage of a stream. */
  boolean hasUsageOption() {
    return this == CHAT_COMPLETIONS || this == COMPLETIONS;
  }

  /** The endpoint of a path without its query; null if the gateway does not serve the path. */
  static @Nullable Endpoint of(String path) {
    for (Endpoint endpoint : values()) {
      if (endpoint != OTHER && endpoint.path.equals(path)) {
        return endpoint;
      }
    }
    return path.startsWith(OTHER.path) && !CLIMBS.matcher(path).find() ? OTHER : null;
  }
}
