package io.kvasir.exchange;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The kinds of engine that a worker can be. */
public enum EngineFlavor {
  /** vLLM, and Kvasir's own engine. */
  VLLM("--enable-prompt-tokens-details", null),
  /** SGLang. */
  SGLANG("--enable-cache-report", null),
  /** TensorRT-LLM. */
  TRTLLM("return_perf_metrics: true", EngineFlavor.SESSION_ID);

  /** The header with which clients name the conversation of a request. */
  public static final String SESSION_ID = "X-Session-ID";

  private final String cachedTokensOption;
  private final @Nullable String conversationHeader;

  EngineFlavor(String cachedTokensOption, @Nullable String conversationHeader) {
    this.cachedTokensOption = cachedTokensOption;
    this.conversationHeader = conversationHeader;
  }

  /** {@return the engine's option that makes its usage report cached tokens} */
  public String cachedTokensOption() {
    return cachedTokensOption;
  }

  /**
   * {@return the header that names a request's conversation to an engine that may keep
   * conversations on their ranks; null if the engine does not}
   */
  public @Nullable String conversationHeader() {
    return conversationHeader;
  }

  /** {@return the name in options} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
