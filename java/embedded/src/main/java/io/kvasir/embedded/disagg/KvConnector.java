package io.kvasir.embedded.disagg;

import io.kvasir.exchange.EngineFlavor;
import java.util.Locale;

/** How KV moves from one engine to another, and so what routers have to say. */
public enum KvConnector {
  /** vLLM's NixlConnector: decode pulls what prefill has announced. */
  NIXL(EngineFlavor.VLLM),

  /** vLLM's NixlPushConnector: prefill pushes to the decode that registers. */
  NIXL_PUSH(EngineFlavor.VLLM),

  /** vLLM's MooncakeConnector. */
  MOONCAKE(EngineFlavor.VLLM),

  /** SGLang's bootstrap rooms. */
  BOOTSTRAP(EngineFlavor.SGLANG),

  /** TensorRT-LLM's disaggregated parameters. */
  TRTLLM(EngineFlavor.TRTLLM);

  private final EngineFlavor flavor;

  KvConnector(EngineFlavor flavor) {
    this.flavor = flavor;
  }

  /** {@return the engine that has it} */
  public EngineFlavor flavor() {
    return flavor;
  }

  /** {@return its name, for example {@code nixl_push}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * {@return the connector that an engine has by default}
   *
   * @param flavor the engine
   */
  public static KvConnector of(EngineFlavor flavor) {
    return switch (flavor) {
      case VLLM -> NIXL;
      case SGLANG -> BOOTSTRAP;
      case TRTLLM -> TRTLLM;
    };
  }
}
