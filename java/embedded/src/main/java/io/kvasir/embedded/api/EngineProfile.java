package io.kvasir.embedded.api;

import io.kvasir.exchange.EngineFlavor;
import java.util.List;
import java.util.Map;

/**
 * How an engine differs from others in what its requests may say. Immutable.
 *
 * @param version the version that the engine reports
 * @param steering where a request may name its rank; it is ignored elsewhere
 * @param exceptions the same for single paths
 * @param rankFields fields of a body that may name a rank; the first one there counts
 * @param chatTokenFields fields of a chat that may have its tokens, in the place of its messages
 */
public record EngineProfile(
    String version,
    Steering steering,
    Map<String, Steering> exceptions,
    List<String> rankFields,
    List<String> chatTokenFields) {

  /** Kvasir's own engine, which accepts the fields of all engines. */
  public static final EngineProfile KVASIR =
      new EngineProfile(
          InfoEndpoints.kvasirVersion(),
          Steering.BOTH,
          Map.of(),
          List.of("data_parallel_rank", "routed_dp_rank"),
          List.of("prompt_token_ids"));

  /** The path of SGLang's own endpoint for completions. */
  public static final String SGLANG_GENERATE = "/generate";

  private static final EngineProfile VLLM =
      new EngineProfile("0.30.0", Steering.HEADER, Map.of(), List.of(), List.of());

  /** Version 0.5.22 ignores ranks in some places, and replies with 200. */
  private static final EngineProfile SGLANG =
      new EngineProfile(
          "0.5.22",
          Steering.BOTH,
          Map.of(MessagesEndpoints.PATH, Steering.HEADER, SGLANG_GENERATE, Steering.BODY),
          List.of("routed_dp_rank", "data_parallel_rank"),
          List.of("input_ids"));

  /** trtllm-serve chooses ranks itself. */
  private static final EngineProfile TRTLLM =
      new EngineProfile("1.3.0", Steering.NONE, Map.of(), List.of(), List.of("prompt_token_ids"));

  /** Where a request may name its rank. */
  enum Steering {
    NONE,
    HEADER,
    BODY,
    BOTH
  }

  /** The profile of an engine. */
  public static EngineProfile of(EngineFlavor flavor) {
    return switch (flavor) {
      case VLLM -> VLLM;
      case SGLANG -> SGLANG;
      case TRTLLM -> TRTLLM;
    };
  }

  /** Where a request of a path may name its rank. */
  Steering steering(String path) {
    return exceptions.getOrDefault(path, steering);
  }
}
