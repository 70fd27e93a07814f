package io.kvasir.embedded.api;

import org.jspecify.annotations.Nullable;

/** The model of an engine, as the endpoints that every engine has see it. Thread-safe. */
public interface ServedModel {

  /** The name under which it is served. */
  String name();

  /** Most tokens of a prompt and its answer together. */
  int maxModelLen();

  /** Why it cannot serve requests now; null if it can. */
  @Nullable ApiError unavailable();

  /** Its counts, for Prometheus. */
  String metrics();

  /** The tokens of a text. O(characters). */
  int[] tokens(String text);

  /**
   * The text of a request's tokens. O(tokens).
   *
   * @param field where the tokens are, for errors
   * @throws ApiError if a token cannot have text
   */
  String text(String field, int[] tokens);

  /** The text of one of its tokens. */
  String tokenText(int token);

  /**
   * Renders a conversation as a prompt.
   *
   * @param conversation the conversation
   * @param withAnswer whether the prompt ends with the head of an answer
   * @throws ApiError naming a field that is wrong or not supported
   */
  String chatPrompt(Conversation conversation, boolean withAnswer);

  /**
   * The tokens of a conversation that is to be answered.
   *
   * @throws ApiError naming a field that is wrong or not supported
   */
  default int[] chatTokens(Conversation conversation) {
    return tokens(chatPrompt(conversation, true));
  }

  /**
   * Starts to answer a request. The reply follows on the request's event loop.
   *
   * @throws ApiError if the completion is not supported or too long, or too many are in flight
   */
  void complete(Incoming request, AskedCompletion asked);
}
