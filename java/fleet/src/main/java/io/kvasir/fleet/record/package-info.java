/**
 * Records engines' events and routing decisions as JSON lines, and plays recordings back.
 *
 * <p>An {@link io.kvasir.fleet.record.EventRecorder} takes {@link
 * io.kvasir.fleet.record.JsonEvent}s from any thread without blocking it and writes them to a file
 * or a sequence of rotated files. A {@link io.kvasir.fleet.record.RecordingReader} reads them, and
 * a {@link io.kvasir.fleet.record.RecordingReplay} delivers them with their original timing. A
 * {@link io.kvasir.fleet.record.RecordingRepair} drops damaged lines. Events are opaque here,
 * except to {@link io.kvasir.fleet.record.RankChange}.
 */
@NullMarked
package io.kvasir.fleet.record;

import org.jspecify.annotations.NullMarked;
