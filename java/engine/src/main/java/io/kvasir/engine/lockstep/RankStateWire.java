package io.kvasir.engine.lockstep;

import io.kvasir.engine.adp.IterationStats;
import io.kvasir.engine.adp.RankState;
import io.kvasir.model.Checks;

/**
 * TensorRT-LLM's flat form of a rank state: 13 integers, of which trailing ones may be missing.
 *
 * <p>Rank, active requests, active tokens and retiring requests; then whether iteration statistics
 * follow, and their eight numbers. The form does not carry occupancy, queued blocks and the number
 * of requests in transfer. The receiver therefore counts requests in transfer as live.
 *
 * <p>Stateless.
 */
public final class RankStateWire {

  /** Number of integers of a complete state. */
  public static final int LENGTH = 13;

  private static final int HAS_STATS = 4;
  private static final long[] DEFAULTS = {0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0};

  private RankStateWire() {}

  /**
   * Writes a state.
   *
   * @param state the state
   * @return {@link #LENGTH} integers
   */
  public static long[] encode(RankState state) {
    long[] wire = DEFAULTS.clone();
    wire[0] = state.rank();
    wire[1] = state.activeRequests();
    wire[2] = state.activeTokens();
    wire[3] = state.retiringRequests();
    IterationStats stats = state.iterationStats();
    if (stats != null) {
      wire[HAS_STATS] = 1;
      wire[5] = stats.iteration();
      wire[6] = stats.contextRequests();
      wire[7] = stats.contextTokens();
      wire[8] = stats.contextKvTokens();
      wire[9] = stats.generationRequests();
      wire[10] = stats.generationKvTokens();
      wire[11] = stats.pausedRequests();
      wire[12] = stats.pausedKvTokens();
    }
    return wire;
  }

  /**
   * Reads a state. Missing trailing values take their defaults, so states from older senders are
   * accepted.
   *
   * @param wire 1 to {@link #LENGTH} integers
   * @return the state; without statistics if the sender had none
   * @throws IllegalArgumentException if there are none or too many, or a count is out of range
   */
  public static RankState decode(long[] wire) {
    if (wire.length < 1 || wire.length > LENGTH) {
      throw new IllegalArgumentException(
          "a rank state must have 1 to " + LENGTH + " integers, not " + wire.length);
    }
    long[] all = DEFAULTS.clone();
    System.arraycopy(wire, 0, all, 0, wire.length);
    Checks.atLeast("activeTokens", all[2], 0);
    RankState state =
        new RankState(
            count("rank", all[0]),
            count("activeRequests", all[1]),
            all[2],
            count("retiringRequests", all[3]),
            0,
            0,
            null,
            null,
            null);
    return state.withIterationStats(all[HAS_STATS] == 0 ? null : stats(all));
  }

  private static IterationStats stats(long[] all) {
    return new IterationStats(all[5], all[6], all[7], all[8], all[9], all[10], all[11], all[12]);
  }

  private static int count(String field, long value) {
    Checks.within(field, value, 0, Integer.MAX_VALUE);
    return (int) value;
  }
}
