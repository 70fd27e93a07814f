package io.kvasir.benchmarks.collective;

import io.kvasir.engine.lockstep.RankCollective;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * How long gathers took in one member.
 *
 * @param p50Ns median, in nanoseconds
 * @param p99Ns 99th percentile, in nanoseconds
 */
public record GatherTimes(long p50Ns, long p99Ns) {

  /** Gathers before those that are measured: enough for the JVM to compile what runs in them. */
  public static final int WARM_UP = 50_000;

  /**
   * Measures a member's gathers, after {@link #WARM_UP} to warm up. All members of the group call
   * this at the same time.
   *
   * @param collective the member's collective
   * @param bytes size of its frames
   * @param gathers number of gathers to measure
   * @return the times
   */
  public static GatherTimes measure(RankCollective collective, int bytes, int gathers) {
    ByteBuffer frame = ByteBuffer.allocate(bytes);
    for (int i = 0; i < WARM_UP; i++) {
      collective.gather(frame);
    }
    long[] timesNs = new long[gathers];
    for (int i = 0; i < gathers; i++) {
      long startNs = System.nanoTime();
      collective.gather(frame);
      timesNs[i] = System.nanoTime() - startNs;
    }
    Arrays.sort(timesNs);
    return new GatherTimes(timesNs[gathers / 2], timesNs[gathers - 1 - gathers / 100]);
  }

  /**
   * Reads what {@link #toString} writes.
   *
   * @param text two numbers
   * @return the times
   * @throws IllegalArgumentException if it is anything else
   */
  public static GatherTimes parse(String text) {
    String[] words = text.strip().split("\\s+", -1);
    if (words.length != 2) {
      throw new IllegalArgumentException("must be two times, not '" + text.strip() + "'");
    }
    return new GatherTimes(Long.parseLong(words[0]), Long.parseLong(words[1]));
  }

  /** The two times, separated by a space. */
  @Override
  public String toString() {
    return p50Ns + " " + p99Ns;
  }
}
