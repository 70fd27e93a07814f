package io.kvasir.gateway.tokens;

import io.kvasir.gateway.openai.BodyExcerpt;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * vLLM: {@code /render} behind an endpoint takes its whole request, and exists in newer versions
 * that are started with {@code --enable-scale-out}, and in {@code vllm launch render}; {@code
 * /tokenize} takes a text, or a chat with the fields below.
 */
final class VllmTokens implements TokenDialect {

  private static final String TOKENIZE = "/tokenize";

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

  /** The endpoints whose requests can be rendered, besides those of texts. */
  private static final Set<String> RENDERED =
      Set.of(TokenRequest.CHAT, TokenRequest.MESSAGES, TokenRequest.RESPONSES);

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
    boolean stored = request.body().has(BodyField.PREVIOUS_RESPONSE_ID);
    if (RENDERED.contains(request.path()) && !stored) {
      ways.add(
          new TokenWay(
              request.path() + "/render", () -> TokenBodies.rendered(request), TokenWay.MISSING));
    }
    if (request.path().equals(TokenRequest.CHAT)) {
      ways.add(
          new TokenWay(
              TOKENIZE, () -> BodyExcerpt.of(request.body(), CHAT_FIELDS), TokenWay.MISSING));
      return ways;
    }
    List<byte[]> bodies = TokenBodies.texts(request);
    bodies = bodies == null ? TokenBodies.asChat(request) : bodies;
    if (bodies != null) {
      ways.add(new TokenWay(TOKENIZE, bodies, TokenWay.MISSING));
    }
    return ways;
  }

  @Override
  public String remedy(String path) {
    if (!RENDERED.contains(path)) {
      return "the engine has no POST /tokenize";
    }
    return "start vllm serve with --enable-scale-out (or VLLM_ENABLE_SCALE_OUT_ENDPOINTS=1), so"
        + " that it has POST "
        + path
        + "/render, or give the worker renderer=URL of a vllm launch render";
  }

  @Override
  public boolean takesTokens(String path, BodyScan body) {
    return path.equals(TokenRequest.COMPLETIONS)
        && body.isText(BodyField.PROMPT)
        && NEED_TEXT.stream().allMatch(field -> !body.has(field) || body.isFalse(field));
  }
}
