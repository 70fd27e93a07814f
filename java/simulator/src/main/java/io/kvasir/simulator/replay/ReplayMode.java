package io.kvasir.simulator.replay;

import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.model.Checks;
import java.util.Objects;

/** Which phases of serving the ranks of a worker run. Immutable. */
public sealed interface ReplayMode {

  /** The ranks compute prompts and answers. */
  ReplayMode AGGREGATED = new Aggregated();

  /** {@return the mode's name in options and reports, for example {@code context}} */
  String id();

  /** Prefill and generation on the same ranks. */
  record Aggregated() implements ReplayMode {
    @Override
    public String id() {
      return "aggregated";
    }
  }

  /**
   * Prompts on the ranks of one worker and answers on those of another.
   *
   * @param transfer models the transfer of the KV between them
   * @param prefills whether these ranks compute the prompts
   */
  record Apart(KvTransfer transfer, boolean prefills) implements ReplayMode {

    /** Time of a transfer besides that of its bytes. */
    static final long TRANSFER_BASE_NS = 1_000_000;

    /** Checks that there is a transfer. */
    public Apart {
      Objects.requireNonNull(transfer, "transfer");
    }

    @Override
    public String id() {
      return "apart";
    }
  }

  /**
   * Prefill only: a request ends with its first token and holds its blocks until its KV is sent. A
   * generation worker with unlimited capacity continues it.
   *
   * @param transfer models the KV transfer
   * @param generationMsPerToken modelled time per further token, from the end of the transfer
   */
  record Context(KvTransfer transfer, double generationMsPerToken) implements ReplayMode {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public Context {
      Objects.requireNonNull(transfer, "transfer");
      Checks.finiteAtLeast0("generationMsPerToken", generationMsPerToken);
    }

    @Override
    public String id() {
      return "context";
    }
  }
}
