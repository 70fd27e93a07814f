package io.kvasir.gateway.route;

import java.util.Locale;

/** The kinds of engine that a worker can be, which differ in how a request names its rank. */
public enum EngineFlavor {
  /** vLLM: the header {@code X-data-parallel-rank}. Kvasir's own engine takes it too. */
  VLLM,
  /** SGLang: the body's field {@code routed_dp_rank}. */
  SGLANG,
  /** TensorRT-LLM: trtllm-serve chooses ranks itself. */
  TRTLLM;

  /** {@return the name in options} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** {@return whether a request can demand one of the engine's ranks} */
  public boolean steersRanks() {
    return this != TRTLLM;
  }
}
