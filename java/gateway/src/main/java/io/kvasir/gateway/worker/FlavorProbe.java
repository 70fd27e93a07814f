package io.kvasir.gateway.worker;

import io.kvasir.exchange.EngineFlavor;
import java.net.URI;
import java.util.List;
import java.util.Map;

/** What to ask an engine of one flavor about itself. Stateless. */
interface FlavorProbe {

  /** Most tokens of a block that is taken for real. */
  int MAX_BLOCK_SIZE = 1 << 20;

  /** Paths to ask with {@code GET}. */
  List<String> targets();

  /**
   * Whether the facts would lack something without an answer to a question.
   *
   * @param target the path that was not answered
   * @param answers the bodies of answers with status 200, by their path
   */
  default boolean needs(String target, Map<String, byte[]> answers) {
    return true;
  }

  /**
   * Reads the answers.
   *
   * @param answers the bodies of answers with status 200, by their path
   * @param url where the engine is
   * @return what they say; whatever is not valid is unknown
   */
  WorkerFacts read(Map<String, byte[]> answers, URI url);

  /** The probe of a flavor. */
  static FlavorProbe of(EngineFlavor flavor) {
    return switch (flavor) {
      case VLLM -> new VllmProbe();
      case SGLANG -> new SglangProbe();
      case TRTLLM -> new TrtllmProbe();
    };
  }
}
