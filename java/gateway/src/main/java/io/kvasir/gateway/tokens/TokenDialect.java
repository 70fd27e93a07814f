package io.kvasir.gateway.tokens;

import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How engines of one flavor make tokens, and take them. Stateless. */
interface TokenDialect {

  /** The field next to {@code prompt} in which a request can have its tokens; null if none. */
  @Nullable BodyField tokensField();

  /** The ways to ask for the tokens of a request, best first; none if no endpoint has them. */
  List<TokenWay> ways(TokenRequest request);

  /** What to do where requests of a path lack tokens, in words. */
  String remedy(String path);

  /**
   * Whether the prompt of a request can be replaced by its tokens, so that the engine need not make
   * them again.
   *
   * @param path the endpoint
   * @param body the request
   */
  boolean takesTokens(String path, BodyScan body);

  /** The dialect of a flavor. */
  static TokenDialect of(EngineFlavor flavor) {
    return switch (flavor) {
      case VLLM -> new VllmTokens();
      case SGLANG -> new SglangTokens();
      case TRTLLM -> new TrtllmTokens();
    };
  }
}
