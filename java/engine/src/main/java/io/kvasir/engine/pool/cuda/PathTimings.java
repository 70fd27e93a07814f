package io.kvasir.engine.pool.cuda;

import java.util.Arrays;

/**
 * Measures which of two equivalent code paths was faster recently, per batch size. Sizes are
 * grouped by powers of two. A path that has not been chosen for a while is tried again, so that the
 * choice adapts when a device becomes busy or idle.
 *
 * <p>Not thread-safe.
 */
final class PathTimings {

  private static final int SIZES = Integer.SIZE;
  private static final int RETRY_AFTER = 64;
  private static final double WEIGHT_OF_NEW = 0.25;

  private static final double UNKNOWN = -1;

  /** Smoothed duration, by path and size. */
  private final double[][] durationNs = new double[2][SIZES];

  /** Number of choices since a path was last chosen, by path and size. */
  private final int[][] notChosen = new int[2][SIZES];

  PathTimings() {
    Arrays.fill(durationNs[0], UNKNOWN);
    Arrays.fill(durationNs[1], UNKNOWN);
  }

  /**
   * Chooses a path.
   *
   * @param batchSize at least 0
   * @return 0 or 1
   */
  int choose(int batchSize) {
    int size = sizeClass(batchSize);
    int faster = durationNs[1][size] < durationNs[0][size] ? 1 : 0;
    int other = 1 - faster;
    boolean retry = durationNs[other][size] == UNKNOWN || notChosen[other][size] >= RETRY_AFTER;
    int chosen = retry ? other : faster;
    notChosen[chosen][size] = 0;
    notChosen[1 - chosen][size]++;
    return chosen;
  }

  /** Records the duration of a path for a batch. */
  void record(int path, int batchSize, long ns) {
    int size = sizeClass(batchSize);
    double before = durationNs[path][size];
    durationNs[path][size] = before == UNKNOWN ? ns : before + WEIGHT_OF_NEW * (ns - before);
  }

  /**
   * {@return the smallest size from which path 1 is faster at all measured sizes; a power of two,
   * or -1 if there is none}
   */
  int crossover() {
    int crossover = -1;
    for (int size = SIZES - 1; size >= 0; size--) {
      if (durationNs[0][size] == UNKNOWN || durationNs[1][size] == UNKNOWN) {
        continue;
      }
      if (durationNs[1][size] >= durationNs[0][size]) {
        return crossover;
      }
      crossover = 1 << size;
    }
    return crossover;
  }

  private static int sizeClass(int batchSize) {
    return SIZES - 1 - Integer.numberOfLeadingZeros(Math.max(1, batchSize));
  }
}
