package io.kvasir.engine.pool.cuda;

import java.util.Arrays;

/**
 * Which of two ways to do the same was faster lately, for batches of a size. Sizes are told apart
 * by their powers of two. A way that was not tried for long is tried again, so that the answer
 * follows a device that gets busy or idle.
 *
 * <p>Not thread-safe.
 */
final class PathTimings {

  private static final int SIZES = Integer.SIZE;
  private static final int RETRY_AFTER = 64;
  private static final double WEIGHT_OF_NEW = 0.25;

  private static final double UNKNOWN = -1;

  /** By way and size: what it takes, and for how many choices it was passed over. */
  private final double[][] takenNs = new double[2][SIZES];

  private final int[][] passedOver = new int[2][SIZES];

  PathTimings() {
    Arrays.fill(takenNs[0], UNKNOWN);
    Arrays.fill(takenNs[1], UNKNOWN);
  }

  /**
   * Chooses.
   *
   * @param batchSize at least 0
   * @return 0 or 1
   */
  int choose(int batchSize) {
    int size = sizeClass(batchSize);
    int faster = takenNs[1][size] < takenNs[0][size] ? 1 : 0;
    int other = 1 - faster;
    boolean retry = takenNs[other][size] == UNKNOWN || passedOver[other][size] >= RETRY_AFTER;
    int chosen = retry ? other : faster;
    passedOver[chosen][size] = 0;
    passedOver[1 - chosen][size]++;
    return chosen;
  }

  /** Learns what a way took for a batch. */
  void took(int way, int batchSize, long ns) {
    int size = sizeClass(batchSize);
    double before = takenNs[way][size];
    takenNs[way][size] = before == UNKNOWN ? ns : before + WEIGHT_OF_NEW * (ns - before);
  }

  /**
   * The smallest size from which on way 1 is faster.
   *
   * @return a power of two, or -1 if it is not known to be faster at any size
   */
  int crossover() {
    int crossover = -1;
    for (int size = SIZES - 1; size >= 0; size--) {
      if (takenNs[0][size] == UNKNOWN || takenNs[1][size] == UNKNOWN) {
        continue;
      }
      if (takenNs[1][size] >= takenNs[0][size]) {
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
