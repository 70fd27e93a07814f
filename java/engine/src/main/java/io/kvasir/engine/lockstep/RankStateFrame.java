package io.kvasir.engine.lockstep;

import io.kvasir.engine.adp.IterationStats;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.pool.Occupancy;
import java.nio.ByteBuffer;

/**
 * Kvasir's own form of a rank state: all fields of {@link RankState}, occupancy included. The
 * frame's head carries the version of the form ({@link Lockstep#VERSION}).
 *
 * <p>The layout, with bytes in parentheses: rank, active, retiring and in-transfer requests (4
 * each); active tokens and queued blocks (8 each); whether there is an occupancy (1) and, if so,
 * its eight counts (8 each); whether there are iteration statistics (1) and, if so, their eight
 * numbers (8 each); whether the work is known (1) and, if so, prefill requests (4), prefill tokens
 * and attended pairs (8 each), decoding requests (4) and their KV tokens (8).
 *
 * <p>Stateless.
 */
public final class RankStateFrame {

  /** Bytes of a rank's work. */
  public static final int WORK_BYTES = 2 * Integer.BYTES + 3 * Long.BYTES;

  /** Maximum bytes of a state. */
  public static final int MAX_BYTES =
      4 * Integer.BYTES + 2 * Long.BYTES + 2 * (1 + 8 * Long.BYTES) + 1 + WORK_BYTES;

  private RankStateFrame() {}

  /**
   * Appends a state.
   *
   * @param state the state
   * @param to receives at most {@link #MAX_BYTES}
   */
  public static void write(RankState state, ByteBuffer to) {
    to.putInt(state.rank()).putInt(state.activeRequests());
    to.putInt(state.retiringRequests()).putInt(state.inTransferRequests());
    to.putLong(state.activeTokens()).putLong(state.queuedBlocks());
    Occupancy occupancy = state.occupancy();
    to.put((byte) (occupancy == null ? 0 : 1));
    if (occupancy != null) {
      to.putLong(occupancy.capacityBlocks()).putLong(occupancy.freeBlocks());
      to.putLong(occupancy.cachedBlocks()).putLong(occupancy.activeBlocks());
      to.putLong(occupancy.reservedBlocks()).putLong(occupancy.evictedBlocks());
      to.putLong(occupancy.oldestEvictableTick()).putLong(occupancy.tick());
    }
    IterationStats stats = state.iterationStats();
    to.put((byte) (stats == null ? 0 : 1));
    if (stats != null) {
      to.putLong(stats.iteration()).putLong(stats.contextRequests());
      to.putLong(stats.contextTokens()).putLong(stats.contextKvTokens());
      to.putLong(stats.generationRequests()).putLong(stats.generationKvTokens());
      to.putLong(stats.pausedRequests()).putLong(stats.pausedKvTokens());
    }
    RankWork work = state.work();
    to.put((byte) (work == null ? 0 : 1));
    if (work != null) {
      writeWork(work, to);
    }
  }

  /**
   * Appends a rank's work.
   *
   * @param work the work
   * @param to receives {@link #WORK_BYTES}
   */
  public static void writeWork(RankWork work, ByteBuffer to) {
    to.putInt(work.prefillRequests()).putLong(work.prefillTokens());
    to.putDouble(work.attendedPairs());
    to.putInt(work.decodingRequests()).putLong(work.decodeKvTokens());
  }

  /**
   * Reads a state.
   *
   * @param from the source; its position advances past the state
   * @return the state
   * @throws java.nio.BufferUnderflowException if the state is truncated
   */
  public static RankState read(ByteBuffer from) {
    int rank = from.getInt();
    int activeRequests = from.getInt();
    int retiringRequests = from.getInt();
    int inTransferRequests = from.getInt();
    long activeTokens = from.getLong();
    long queuedBlocks = from.getLong();
    Occupancy occupancy = from.get() == 0 ? null : readOccupancy(from);
    IterationStats stats = from.get() == 0 ? null : readStats(from);
    RankWork work = from.get() == 0 ? null : readWork(from);
    return new RankState(
        rank,
        activeRequests,
        activeTokens,
        retiringRequests,
        inTransferRequests,
        queuedBlocks,
        occupancy,
        stats,
        work);
  }

  /**
   * Reads a rank's work.
   *
   * @param from the source; its position advances past the work
   * @return the work
   * @throws java.nio.BufferUnderflowException if the work is truncated
   */
  public static RankWork readWork(ByteBuffer from) {
    return new RankWork(
        from.getInt(), from.getLong(), from.getDouble(), from.getInt(), from.getLong());
  }

  private static Occupancy readOccupancy(ByteBuffer from) {
    return new Occupancy(
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong());
  }

  private static IterationStats readStats(ByteBuffer from) {
    return new IterationStats(
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong());
  }
}
