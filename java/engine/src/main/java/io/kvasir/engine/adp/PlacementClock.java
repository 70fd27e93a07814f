package io.kvasir.engine.adp;

import java.util.Arrays;

/**
 * A clock for the ages of cached blocks that runs alike for all ranks: it counts the requests that
 * were placed in the worker. A pool counts its own operations, and pools differ in how many they
 * have; so samples of both counts translate a pool's ticks.
 *
 * <p>Per rank {@link #SAMPLES} samples at most. When they are full they are thinned, the older the
 * more: between neighbours at most an eighth of the older one's age goes by, so that no age is told
 * more than an eighth too long for it, however long ago. A sample costs O(1) on average, a
 * translation O(log samples).
 *
 * <p>Not thread-safe.
 */
final class PlacementClock {

  static final int SAMPLES = 256;

  /** Gaps between samples in an age; few enough for the samples to thin out in any history. */
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

  /** A rank's pool is at this tick now. A pool whose ticks go back is another one. */
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

  /** Drops what lies too close together for its age; how many samples are left. */
  private int thin(long[] tick, long[] time) {
    int kept = SAMPLES - 1; // the place of the last one kept, from the newest on
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

  /** How many requests were placed since a rank's pool was at a tick. */
  long age(int rank, long tick) {
    int found = Arrays.binarySearch(ticks[rank], 0, sizes[rank], tick);
    int floor = found >= 0 ? found : -found - 2;
    return now - (floor < 0 ? 0 : times[rank][floor]);
  }
}
