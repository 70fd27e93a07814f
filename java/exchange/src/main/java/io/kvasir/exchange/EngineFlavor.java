package io.kvasir.exchange;

import java.util.Locale;

/** The kinds of engine that a worker can be. */
public enum EngineFlavor {
  /** vLLM, and Kvasir's own engine. */
  VLLM("--enable-prompt-tokens-details"),
  /** SGLang. */
  SGLANG("--enable-cache-report"),
  /** TensorRT-LLM. */
  TRTLLM("return_perf_metrics: true");

  private final String cachedTokensOption;

  EngineFlavor(String cachedTokensOption) {
    this.cachedTokensOption = cachedTokensOption;
  }

  /** {@return the engine's option that makes its usage report cached tokens} */
  public String cachedTokensOption() {
    return cachedTokensOption;
  }

  /** {@return the name in options} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
