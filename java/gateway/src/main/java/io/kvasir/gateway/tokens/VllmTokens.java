package io.kvasir.gateway.tokens;

import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * vLLM: {@code /v1/chat/completions/render} takes a whole chat and exists in newer versions that
 * are started with it; {@code /tokenize} takes a text, or a chat with the fields below.
 */
final class VllmTokens implements TokenDialect {

  private static final List<BodyField> CHAT_FIELDS =
      List.of(
          BodyField.MODEL,
          BodyField.MESSAGES,
          BodyField.TOOLS,
          BodyField.CHAT_TEMPLATE,
          BodyField.CHAT_TEMPLATE_KWARGS,
          BodyField.ADD_GENERATION_PROMPT,
          BodyField.CONTINUE_FINAL_MESSAGE,
          BodyField.ADD_SPECIAL_TOKENS,
          BodyField.MM_PROCESSOR_KWARGS);

  /** Fields that need the text of the prompt, or change its tokens. */
  private static final List<BodyField> NEED_TEXT =
      List.of(
          BodyField.ECHO,
          BodyField.SUFFIX,
          BodyField.PROMPT_LOGPROBS,
          BodyField.TRUNCATE_PROMPT_TOKENS);

  @Override
  public @Nullable BodyField tokensField() {
    return null;
  }

  @Override
  public List<TokenWay> ways(TokenRequest request) {
    List<TokenWay> ways = new ArrayList<>();
    if (request.path().equals(TokenRequest.CHAT)) {
      ways.add(
          new TokenWay(
              TokenRequest.CHAT + "/render", TokenBodies.rendered(request), TokenWay.MISSING));
    }
    List<byte[]> bodies = TokenBodies.texts(request);
    bodies = bodies == null ? TokenBodies.messages(request, CHAT_FIELDS) : bodies;
    if (bodies != null) {
      ways.add(new TokenWay("/tokenize", bodies, TokenWay.MISSING));
    }
    return ways;
  }

  @Override
  public boolean takesTokens(String path, BodyScan body) {
    return path.equals(TokenRequest.COMPLETIONS)
        && body.isText(BodyField.PROMPT)
        && NEED_TEXT.stream().allMatch(field -> !body.has(field) || body.isFalse(field));
  }
}
