package io.kvasir.fleet.record;

/**
 * An event of a recording. Immutable.
 *
 * @param timestampMs milliseconds since its recorder started
 * @param json the event, one JSON object on one line
 */
public record RecordedEvent(long timestampMs, String json) {}
