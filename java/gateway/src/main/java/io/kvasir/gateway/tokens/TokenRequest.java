package io.kvasir.gateway.tokens;

import io.kvasir.fleet.router.PromptSource;
import io.kvasir.gateway.openai.BodyScan;

/**
 * A request whose tokens are wanted. Immutable.
 *
 * @param path its endpoint, for example {@code /v1/completions}
 * @param model the model or adapter that serves it
 * @param body its body
 * @param prompt the prompt in the body, decoded or not
 */
public record TokenRequest(String path, String model, BodyScan body, PromptSource prompt) {

  /** The endpoint of chats. */
  public static final String CHAT = "/v1/chat/completions";

  /** The endpoint of completions. */
  public static final String COMPLETIONS = "/v1/completions";

  static final String MESSAGES = "/v1/messages";
  static final String RESPONSES = "/v1/responses";

  /** SGLang's endpoint of texts and tokens. */
  public static final String GENERATE = "/generate";
}
