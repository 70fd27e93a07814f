package io.kvasir.gateway.worker;

import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The part of a request that a worker serves. */
public enum WorkerRole {
  /** The whole request. */
  BOTH("both"),
  /** The prompt; its KV is then transferred to a worker of role decode. */
  PREFILL("context"),
  /** The answer, with KV of the prompt from a worker of role prefill. */
  DECODE("generation");

  private final String tensorRtLlm;

  WorkerRole(String tensorRtLlm) {
    this.tensorRtLlm = tensorRtLlm;
  }

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
    for (WorkerRole role : values()) {
      if (name.equals(role.id()) || name.equals(role.tensorRtLlm)) {
        return role;
      }
    }
    return null;
  }

  /** The names of all roles, TensorRT-LLM's too. */
  static Stream<String> names() {
    return Stream.of(values()).flatMap(role -> Stream.of(role.id(), role.tensorRtLlm)).distinct();
  }
}
