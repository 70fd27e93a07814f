package io.kvasir.gateway.tokens;

import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.gateway.openai.BillingText;
import io.kvasir.gateway.openai.BodyExcerpt;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.BodySplice;
import io.kvasir.gateway.openai.JsonText;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The bodies of questions for tokens. Equal questions have equal bodies: fields that do not change
 * the tokens are left out. Stateless.
 */
final class TokenBodies {

  /** Fields that change no token of the prompt. */
  private static final List<BodyField> WITHOUT_EFFECT =
      List.of(
          BodyField.STREAM,
          BodyField.STREAM_OPTIONS,
          BodyField.MAX_COMPLETION_TOKENS,
          BodyField.MAX_TOKENS,
          BodyField.MAX_OUTPUT_TOKENS,
          BodyField.N,
          BodyField.USER,
          BodyField.PROMPT_CACHE_KEY,
          BodyField.CONVERSATION_PARAMS,
          BodyField.CLIENT_METADATA,
          BodyField.METADATA,
          BodyField.CACHE_SALT,
          BodyField.PRIORITY);

  /** Endpoints whose prompts are texts. */
  private static final Set<String> TEXTS = Set.of(TokenRequest.COMPLETIONS, TokenRequest.GENERATE);

  /** What {@code POST /tokenize} takes besides the texts of a completion. */
  private static final List<BodyField> OF_TEXTS =
      List.of(BodyField.MODEL, BodyField.ADD_SPECIAL_TOKENS);

  /** Fields of requests to other endpoints than chats whose effect on the prompt is not known. */
  private static final List<BodyField> UNCLEAR =
      List.of(BodyField.TOOLS, BodyField.INSTRUCTIONS, BodyField.PREVIOUS_RESPONSE_ID);

  private TokenBodies() {}

  /** The whole request, for endpoints that render it as the engine would. */
  static byte[] rendered(TokenRequest request) {
    BodySplice splice = new BodySplice(request.body()).removeRouting(false);
    WITHOUT_EFFECT.forEach(splice::remove);
    if (request.path().equals(TokenRequest.MESSAGES)) {
      splice.set(BodyField.MAX_TOKENS, "1"); // it is required there
    }
    String system = BillingText.dropped(request.body());
    if (system != null) {
      splice.set(BodyField.SYSTEM, system);
    }
    return splice.bytes();
  }

  /** The texts of a completion; null if the request is none, or has too many. */
  static @Nullable List<byte[]> texts(TokenRequest request) {
    BodyScan body = request.body();
    if (!TEXTS.contains(request.path()) || request.prompt().form() != PromptSource.Form.TEXTS) {
      return null;
    }
    if (body.isText(BodyField.PROMPT)) {
      return List.of(
          BodyExcerpt.of(
              body, List.of(BodyField.MODEL, BodyField.PROMPT, BodyField.ADD_SPECIAL_TOKENS)));
    }
    List<String> texts = ((Prompt.Texts) request.prompt().prompt()).texts();
    if (texts.size() > TokenQuestions.MAX_PROMPTS) {
      return null;
    }
    return texts.stream()
        .map(text -> BodyExcerpt.of(body, OF_TEXTS, BodyField.PROMPT, JsonText.quoted(text)))
        .toList();
  }

  /** What endpoints without messages make a chat of; null if it is not clear which one. */
  static @Nullable List<byte[]> asChat(TokenRequest request) {
    BodyScan body = request.body();
    boolean asChat =
        request.path().equals(TokenRequest.MESSAGES)
            || request.path().equals(TokenRequest.RESPONSES);
    if (!asChat || UNCLEAR.stream().anyMatch(body::has)) {
      return null;
    }
    List<Prompt.Message> messages = messages(request.prompt().prompt());
    if (messages == null) {
      return null;
    }
    String json =
        messages.stream()
            .map(
                message ->
                    "{\"role\":"
                        + JsonText.quoted(message.role())
                        + ",\"content\":"
                        + JsonText.quoted(message.content())
                        + "}")
            .collect(Collectors.joining(",", "[", "]"));
    return List.of(BodyExcerpt.of(body, List.of(BodyField.MODEL), BodyField.MESSAGES, json));
  }

  private static @Nullable List<Prompt.Message> messages(Prompt prompt) {
    if (prompt instanceof Prompt.Chat chat) {
      return chat.messages();
    }
    return prompt instanceof Prompt.Texts texts && texts.texts().size() == 1
        ? List.of(new Prompt.Message("user", texts.texts().get(0)))
        : null;
  }
}
