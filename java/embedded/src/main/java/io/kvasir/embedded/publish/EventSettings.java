package io.kvasir.embedded.publish;

import io.kvasir.exchange.EngineFlavor;
import io.kvasir.model.Checks;
import java.util.Locale;

/**
 * How a stand-in publishes its blocks. Immutable.
 *
 * @param flavor the engine that it stands in for
 * @param form how events are encoded
 * @param replay the frames of a replay
 * @param handles how block hashes are written
 * @param host the address that sockets are bound to
 * @param eventsPort port of rank 0's events, and one more for each further rank; 0 takes free ones
 * @param replayPort the same for replay
 * @param topic first frame of each message
 * @param forwardPassPort port of rank 0's forward-pass metrics, and one more for each further rank;
 *     0 takes free ones; {@link #NO_PORT} publishes none
 * @param renders whether vLLM has the endpoints that render prompts, for which it must be started
 *     with {@code --enable-scale-out}
 */
public record EventSettings(
    EngineFlavor flavor,
    EventForm form,
    ReplayForm replay,
    HandleForm handles,
    String host,
    int eventsPort,
    int replayPort,
    String topic,
    int forwardPassPort,
    boolean renders) {

  /** Value of {@link #forwardPassPort()} without forward-pass metrics. */
  public static final int NO_PORT = -1;

  /** Largest number of a port. */
  public static final int MAX_PORT = 65_535;

  /**
   * Checks what the engine can do.
   *
   * @throws IllegalArgumentException naming the field that is wrong
   */
  public EventSettings {
    Checks.within("eventsPort", eventsPort, 0, MAX_PORT);
    Checks.within("replayPort", replayPort, 0, MAX_PORT);
    Checks.within("forwardPassPort", forwardPassPort, NO_PORT, MAX_PORT);
    boolean trtllm = flavor == EngineFlavor.TRTLLM;
    if (trtllm && (form == EventForm.ARRAY || form == EventForm.MIXED)) {
      throw wrong("events must be map or none", form);
    }
    if (trtllm && replay == ReplayForm.SHORT) {
      throw wrong("replay must be long or none", replay);
    }
    if (renders && flavor != EngineFlavor.VLLM) {
      throw new IllegalArgumentException("it has no --enable-scale-out");
    }
    if (trtllm && forwardPassPort != NO_PORT) {
      throw new IllegalArgumentException("it publishes no forward-pass metrics");
    }
    if (handles == HandleForm.BYTES && flavor != EngineFlavor.VLLM) {
      throw wrong("handles must be numbers", handles);
    }
  }

  private static IllegalArgumentException wrong(String allowed, Enum<?> value) {
    return new IllegalArgumentException(allowed + ", not " + value.name().toLowerCase(Locale.ROOT));
  }

  /**
   * The replay of an engine's newest version.
   *
   * @param flavor the engine
   * @return the form
   */
  public static ReplayForm newestReplay(EngineFlavor flavor) {
    return flavor == EngineFlavor.SGLANG ? ReplayForm.SHORT : ReplayForm.LONG;
  }

  /**
   * How an engine writes block hashes as numbers.
   *
   * @param flavor the engine
   * @return the form
   */
  public static HandleForm numbers(EngineFlavor flavor) {
    return flavor == EngineFlavor.SGLANG ? HandleForm.SIGNED : HandleForm.UNSIGNED;
  }

  /** {@return whether events are published} */
  public boolean publishes() {
    return form != EventForm.NONE;
  }
}
