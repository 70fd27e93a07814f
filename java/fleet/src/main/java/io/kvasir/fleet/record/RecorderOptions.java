package io.kvasir.fleet.record;

import io.kvasir.model.Checks;

/**
 * Queue size, rotation and limits of a recorder. Immutable.
 *
 * @param queueEvents events that may wait to be written, 1 to {@link #MAX_QUEUED}, as long as they
 *     take no more than {@link EventRecorder#MAX_QUEUED_BYTES}
 * @param rotateLines lines per file before the next file starts; 0 for a single file
 * @param flushNs longest time that an event stays in the buffer, in nanoseconds; 0 to flush only
 *     when the buffer is full
 * @param maxEvents events after which the recording ends; 0 for no limit
 * @param maxNs time after which the recording ends, in nanoseconds; 0 for no limit
 * @param maxBytes bytes of all files after which the recording ends, give or take the queue; 0 for
 *     no limit
 * @param append whether to continue an existing recording; otherwise it and its rotated files are
 *     replaced
 */
public record RecorderOptions(
    int queueEvents,
    long rotateLines,
    long flushNs,
    long maxEvents,
    long maxNs,
    long maxBytes,
    boolean append) {

  /** Longest queue. */
  public static final int MAX_QUEUED = 1 << 24;

  /** A queue of 2048 events, one file, no limit. */
  public static final RecorderOptions DEFAULT = new RecorderOptions(2048, 0, 0, 0, 0, 0, false);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public RecorderOptions {
    Checks.within("queueEvents", queueEvents, 1, MAX_QUEUED);
    Checks.atLeast("rotateLines", rotateLines, 0);
    Checks.atLeast("flushNs", flushNs, 0);
    Checks.atLeast("maxEvents", maxEvents, 0);
    Checks.atLeast("maxNs", maxNs, 0);
    Checks.atLeast("maxBytes", maxBytes, 0);
  }
}
