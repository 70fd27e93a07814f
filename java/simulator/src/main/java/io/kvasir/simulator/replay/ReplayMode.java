package io.kvasir.simulator.replay;

import io.kvasir.engine.execute.KvTransfer;
import java.util.Objects;

/** Which part of serving the ranks of a worker do. Immutable. */
public sealed interface ReplayMode {

  /** The ranks compute prompts and answers. */
  ReplayMode AGGREGATED = new Aggregated();

  /**
   * The mode's name in options and reports.
   *
   * @return for example {@code context}
   */
  String id();

  /** Prompts and answers on the same ranks. */
  record Aggregated() implements ReplayMode {
    @Override
    public String id() {
      return "aggregated";
    }
  }

  /**
   * Prompts only: a request ends with its first token, holds its blocks until its KV is sent, and
   * is answered elsewhere, where there is always room.
   *
   * @param transfer how its KV is sent
   * @param generationMsPerToken modelled time of each further token, from the transfer's end on
   */
  record Context(KvTransfer transfer, double generationMsPerToken) implements ReplayMode {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public Context {
      Objects.requireNonNull(transfer, "transfer");
      if (!(generationMsPerToken >= 0) || Double.isInfinite(generationMsPerToken)) {
        throw new IllegalArgumentException(
            "generationMsPerToken must be at least 0 and finite, not " + generationMsPerToken);
      }
    }

    @Override
    public String id() {
      return "context";
    }
  }
}
