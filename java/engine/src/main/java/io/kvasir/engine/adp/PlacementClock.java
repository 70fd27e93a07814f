package io.kvasir.engine.adp;

import java.util.Arrays;

/**
 * A common clock for the ages of cached blocks on all ranks: the number of requests placed in the
 * worker. A pool's own clock counts its operations, so pools' clocks run at different rates.
 * Samples of both clocks translate a pool's ticks into the common time.
 *
 * <p>Each rank has at most {@link #SAMPLES} samples. When the buffer is full it is thinned, older
 * samples more than recent ones: the gap between neighbours is at most an eighth of the older one's
 * age. An age is therefore overestimated by at most an eighth. A sample costs amortised O(1), a
 * translation O(log samples).
 *
 * <p>Not thread-safe.
 */
final class PlacementClock {

  static final int SAMPLES = 256;

  /**
   * Minimum number of gaps between samples per age; small enough for thinning to free room in any
   * history.
   */
  private static final int GAPS = 8;

  private final long[][] ticks;
  private final long[][] times;
  private final int[] sizes;
  private long now;

  PlacementClock(int ranks) {
    this.ticks = new long[ranks][SAMPLES];
    this.times = new long[ranks][SAMPLES];
    this.sizes = new int[ranks];
  }

  /** Requests placed so far. */
  long now() {
    return now;
  }

  void advance() {
    now++;
  }

  /**
   * Records the current tick of a rank's pool. A tick below the last one means a new pool: its
   * predecessor's samples are dropped.
   */
  void sample(int rank, long tick) {
    int size = sizes[rank];
    if (size > 0 && tick < ticks[rank][size - 1]) {
      size = 0;
    }
    if (size > 0 && (tick == ticks[rank][size - 1] || now == times[rank][size - 1])) {
      return;
    }
    if (size == SAMPLES) {
      size = thin(ticks[rank], times[rank]);
    }
    ticks[rank][size] = tick;
    times[rank][size] = now;
    sizes[rank] = size + 1;
  }

  /** Drops samples that are closer together than their age requires; returns how many remain. */
  private int thin(long[] tick, long[] time) {
    int kept = SAMPLES - 1; // position of the last sample kept, scanning from the newest
    for (int i = SAMPLES - 2; i >= 0; i--) {
      boolean needed = i == 0 || (time[kept] - time[i - 1]) * GAPS > now - time[i - 1];
      if (needed) {
        kept--;
        tick[kept] = tick[i];
        time[kept] = time[i];
      }
    }
    int left = SAMPLES - kept;
    System.arraycopy(tick, kept, tick, 0, left);
    System.arraycopy(time, kept, time, 0, left);
    return left;
  }

  /** The number of requests placed since a rank's pool was at {@code tick}. */
  long age(int rank, long tick) {
    int found = Arrays.binarySearch(ticks[rank], 0, sizes[rank], tick);
    int floor = found >= 0 ? found : -found - 2;
    return now - (floor < 0 ? 0 : times[rank][floor]);
  }
}
