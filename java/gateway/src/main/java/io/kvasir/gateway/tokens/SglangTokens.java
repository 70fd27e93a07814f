package io.kvasir.gateway.tokens;

import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * SGLang: {@code /tokenize} takes a text, and a chat only in some versions. No version is known to
 * lose nothing when {@code input_ids} are sent with the messages of a chat.
 */
final class SglangTokens implements TokenDialect {

  private static final String TOKENIZE = "/tokenize";
  private static final List<BodyField> CHAT_FIELDS =
      List.of(
          BodyField.MODEL,
          BodyField.MESSAGES,
          BodyField.TOOLS,
          BodyField.CHAT_TEMPLATE_KWARGS,
          BodyField.CONTINUE_FINAL_MESSAGE);

  @Override
  public @Nullable BodyField tokensField() {
    return BodyField.INPUT_IDS;
  }

  @Override
  public List<TokenWay> ways(TokenRequest request) {
    List<byte[]> texts = TokenBodies.texts(request);
    if (texts != null) {
      return List.of(new TokenWay(TOKENIZE, texts, TokenWay.MISSING));
    }
    List<byte[]> chat = TokenBodies.messages(request, CHAT_FIELDS);
    return chat == null
        ? List.of()
        : List.of(new TokenWay(TOKENIZE, chat, TokenWay.MISSING_OR_REFUSED));
  }

  @Override
  public String remedy(String path) {
    return "SGLang has tokens of texts only; send input_ids, or use /v1/completions";
  }

  @Override
  public boolean takesTokens(String path, BodyScan body) {
    return false;
  }
}
