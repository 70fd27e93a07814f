package io.kvasir.fleet.record;

import java.util.Optional;

/**
 * What became of the events that a recorder was given. Immutable.
 *
 * @param written events that are in the file
 * @param waiting events that were taken and are on their way to the file
 * @param dropped events that were not taken because the queue was full
 * @param refused events that were not taken because the recording had ended
 * @param lost events that were taken, but could not be written
 * @param failure why writing ended, if it failed
 */
public record RecorderStats(
    long written, long waiting, long dropped, long refused, long lost, Optional<String> failure) {}
