package io.kvasir.fleet.record;

/**
 * How a recorder works. Immutable.
 *
 * @param queueEvents events that may wait to be written, 1 to {@link #MOST_QUEUED}
 * @param rotateLines lines of a file before the next one begins; 0 for a single file
 * @param flushNs longest time that an event waits in the buffer, in nanoseconds; 0 for until the
 *     buffer is full
 * @param maxEvents events after which no more are taken; 0 for no end
 * @param maxNs time after which no more are taken, in nanoseconds; 0 for no end
 * @param append whether an existing recording is continued; otherwise it is replaced, with all
 *     files of its row
 */
public record RecorderOptions(
    int queueEvents, long rotateLines, long flushNs, long maxEvents, long maxNs, boolean append) {

  /** Longest queue. */
  public static final int MOST_QUEUED = 1 << 24;

  /** A queue of 2048 events, one file, no end. */
  public static final RecorderOptions DEFAULT = new RecorderOptions(2048, 0, 0, 0, 0, false);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public RecorderOptions {
    if (queueEvents < 1 || queueEvents > MOST_QUEUED) {
      throw new IllegalArgumentException(
          "queueEvents must be 1 to " + MOST_QUEUED + ", not " + queueEvents);
    }
    notNegative("rotateLines", rotateLines);
    notNegative("flushNs", flushNs);
    notNegative("maxEvents", maxEvents);
    notNegative("maxNs", maxNs);
  }

  private static void notNegative(String field, long value) {
    if (value < 0) {
      throw new IllegalArgumentException(field + " must be at least 0, not " + value);
    }
  }
}
