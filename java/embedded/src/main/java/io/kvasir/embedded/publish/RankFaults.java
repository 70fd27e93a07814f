package io.kvasir.embedded.publish;

import io.kvasir.model.Checks;

/**
 * What goes wrong with the events of one rank. Immutable.
 *
 * @param drop share of batches that are not sent, though they have a number and can be replayed
 * @param garble share of messages whose payload has wrong bytes; replay has the right ones
 * @param delayMs how long each batch is held back, in milliseconds
 * @param paused whether neither socket sends anything
 * @param pausedUntilNs when a pause ends, by {@link System#nanoTime}; {@link #FOREVER} if it does
 *     not end by itself
 * @param pauseLoses whether batches of a pause are not sent after it; replay has them
 */
public record RankFaults(
    double drop,
    double garble,
    int delayMs,
    boolean paused,
    long pausedUntilNs,
    boolean pauseLoses) {

  /** Nothing goes wrong. */
  public static final RankFaults NONE = new RankFaults(0, 0, 0, false, 0, false);

  /** The end of a pause that does not end by itself. */
  public static final long FOREVER = Long.MAX_VALUE;

  /** Longest time in milliseconds. */
  public static final int MAX_MS = 3_600_000;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public RankFaults {
    Checks.within("drop", drop, 0, 1);
    Checks.within("garble", garble, 0, 1);
    Checks.within("delayMs", delayMs, 0, MAX_MS);
  }

  /**
   * {@return whether the rank's sockets are silent}
   *
   * @param nowNs the time, by {@link System#nanoTime}
   */
  public boolean silent(long nowNs) {
    return paused && (pausedUntilNs == FOREVER || pausedUntilNs - nowNs > 0);
  }
}
