package io.kvasir.fleet.record;

/**
 * An event of a recording. Immutable.
 *
 * @param timestampMs milliseconds since its recorder started, 0 to {@link #MAX_TIMESTAMP_MS}
 * @param json the event, one JSON object on one line
 */
public record RecordedEvent(long timestampMs, String json) {

  /** Largest timestamp: 100 years. */
  public static final long MAX_TIMESTAMP_MS = 36_525L * 86_400_000;
}
