package io.kvasir.gateway.tokens;

import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * SGLang: {@code /tokenize} takes a text, and in newer versions the whole request of a chat. No
 * version is known to lose nothing when {@code input_ids} are sent with the messages of a chat.
 */
final class SglangTokens implements TokenDialect {

  private static final String TOKENIZE = "/tokenize";

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
    if (request.path().equals(TokenRequest.CHAT)) {
      return List.of(
          new TokenWay(TOKENIZE, () -> TokenBodies.rendered(request), TokenWay.MISSING_OR_REFUSED));
    }
    List<byte[]> chat = TokenBodies.asChat(request);
    return chat == null
        ? List.of()
        : List.of(new TokenWay(TOKENIZE, chat, TokenWay.MISSING_OR_REFUSED));
  }

  @Override
  public String remedy(String path) {
    return path.equals(TokenRequest.CHAT)
        ? "this SGLang makes tokens of texts only; newer ones take chats in POST /tokenize"
        : "SGLang makes tokens of texts and chats only; --tokenizer MODEL=DIR makes them here";
  }

  @Override
  public boolean takesTokens(String path, BodyScan body) {
    return false;
  }
}
