package io.kvasir.gateway.disagg;

import java.util.Map;

/**
 * What a second leg must say of the worker of the first, where both are sent at once. Immutable.
 *
 * @param engineId the id of the prefill rank's engine; empty if the dialect needs none
 * @param contextParams TensorRT-LLM's {@code disaggregated_params} of {@code /server_info}
 */
public record PeerFacts(String engineId, Map<String, Object> contextParams) {

  /** Nothing is needed. */
  public static final PeerFacts NONE = new PeerFacts("", Map.of());

  /** Copies the parameters. */
  public PeerFacts {
    contextParams = Map.copyOf(contextParams);
  }
}
