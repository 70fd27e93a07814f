package io.kvasir.simulator.replay;

import java.util.Arrays;
import java.util.List;

/**
 * A rank's busy time in equal slices of a replay.
 *
 * <p>Immutable.
 *
 * @param sliceNs length of a slice in nanoseconds of modelled time
 * @param busyNs busy time in each slice
 */
public record LoadOverTime(long sliceNs, List<Long> busyNs) {

  /** Copies the list. */
  public LoadOverTime {
    busyNs = List.copyOf(busyNs);
  }

  /**
   * {@return the busy share of equal parts of a replay, 0 to 1}
   *
   * @param parts number of parts
   * @param endNs end of the replay, in nanoseconds of modelled time
   */
  public double[] shares(int parts, long endNs) {
    double[] shares = new double[parts];
    double partNs = (double) Math.max(1, endNs) / parts;
    for (int slice = 0; slice < busyNs.size(); slice++) {
      double from = (double) slice * sliceNs / partNs;
      double to = (double) (slice + 1) * sliceNs / partNs;
      for (int part = (int) from; part < Math.min(parts, to); part++) {
        double inside = Math.min(to, part + 1) - Math.max(from, part);
        shares[part] += inside / (to - from) * busyNs.get(slice) / partNs;
      }
    }
    return shares;
  }

  /**
   * Collects busy times. The number of slices is bounded: when time goes beyond them, each two
   * become one.
   *
   * <p>Not thread-safe.
   */
  static final class Builder {

    static final int SLICES = 256;

    private static final long FIRST_SLICE_NS = 1_000_000;

    private long sliceNs = FIRST_SLICE_NS;
    private final long[] busyNs = new long[SLICES];

    /** Adds a busy time. O(slices that it covers). */
    void add(long startNs, long durationNs) {
      long endNs = startNs + durationNs;
      while (endNs > sliceNs * SLICES) {
        for (int slice = 0; slice < SLICES; slice++) {
          long both = 2 * slice < SLICES ? busyNs[2 * slice] + busyNs[2 * slice + 1] : 0;
          busyNs[slice] = both;
        }
        sliceNs *= 2;
      }
      for (long from = startNs; from < endNs; ) {
        int slice = (int) (from / sliceNs);
        long to = Math.min(endNs, (slice + 1) * sliceNs);
        busyNs[slice] += to - from;
        from = to;
      }
    }

    LoadOverTime build() {
      int used = SLICES;
      while (used > 0 && busyNs[used - 1] == 0) {
        used--;
      }
      return new LoadOverTime(sliceNs, Arrays.stream(busyNs, 0, used).boxed().toList());
    }
  }
}
