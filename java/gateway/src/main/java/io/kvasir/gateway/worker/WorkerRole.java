package io.kvasir.gateway.worker;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The part of a request that a worker serves. */
public enum WorkerRole {
  /** The whole request. */
  BOTH,
  /** The prompt; its KV is then transferred to a worker of role decode. */
  PREFILL,
  /** The answer, with KV of the prompt from a worker of role prefill. */
  DECODE;

  /** {@return the name in options} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The role of a name; TensorRT-LLM's {@code context} and {@code generation} count too.
   *
   * @param name the name
   * @return the role; null if there is none
   */
  static @Nullable WorkerRole named(String name) {
    return switch (name) {
      case "both" -> BOTH;
      case "prefill", "context" -> PREFILL;
      case "decode", "generation" -> DECODE;
      default -> null;
    };
  }
}
