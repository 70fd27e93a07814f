package io.kvasir.gateway.tokens;

import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * TensorRT-LLM: {@code /v1/chat/completions/render} exists with {@code
 * TRTLLM_ENABLE_RENDER_ENDPOINTS=1}. Nothing makes tokens of a text.
 */
final class TrtllmTokens implements TokenDialect {

  @Override
  public @Nullable BodyField tokensField() {
    return BodyField.PROMPT_TOKEN_IDS;
  }

  @Override
  public List<TokenWay> ways(TokenRequest request) {
    return request.path().equals(TokenRequest.CHAT)
        ? List.of(
            new TokenWay(
                TokenRequest.CHAT + "/render",
                () -> TokenBodies.rendered(request),
                TokenWay.MISSING))
        : List.of();
  }

  @Override
  public String remedy(String path) {
    return "start trtllm-serve with TRTLLM_ENABLE_RENDER_ENDPOINTS=1, which has tokens of chats";
  }

  @Override
  public boolean takesTokens(String path, BodyScan body) {
    return false;
  }
}
