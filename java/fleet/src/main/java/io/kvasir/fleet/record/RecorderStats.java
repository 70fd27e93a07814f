package io.kvasir.fleet.record;

import java.util.Optional;

/**
 * Counts of the events passed to a recorder. Immutable.
 *
 * @param written events written to the file
 * @param waiting queued events that are not in the file yet
 * @param dropped events dropped because the queue was full
 * @param refused events refused because the recording had ended
 * @param lost queued events that could not be written
 * @param failure why writing ended, if it failed
 */
public record RecorderStats(
    long written, long waiting, long dropped, long refused, long lost, Optional<String> failure) {}
