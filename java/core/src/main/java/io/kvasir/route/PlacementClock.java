package io.kvasir.route;

import java.util.Arrays;

/**
 * A clock for the ages of cached blocks that runs alike for all ranks: it counts the requests that
 * were placed in the instance. A pool counts its own operations, and pools differ in how many they
 * have; so samples of both counts translate a pool's ticks.
 *
 * <p>Per rank {@link #SAMPLES} samples at most: when they are full, every second one goes, so that
 * they reach back for ever and get coarser. A sample costs O(1), a translation O(log samples).
 *
 * <p>Not thread-safe.
 */
final class PlacementClock {

  static final int SAMPLES = 256;

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
      size /= 2;
      for (int i = 0; i < size; i++) {
        ticks[rank][i] = ticks[rank][2 * i];
        times[rank][i] = times[rank][2 * i];
      }
    }
    ticks[rank][size] = tick;
    times[rank][size] = now;
    sizes[rank] = size + 1;
  }

  /** How many requests were placed since a rank's pool was at a tick. */
  long age(int rank, long tick) {
    int found = Arrays.binarySearch(ticks[rank], 0, sizes[rank], tick);
    int floor = found >= 0 ? found : -found - 2;
    return now - (floor < 0 ? 0 : times[rank][floor]);
  }
}
