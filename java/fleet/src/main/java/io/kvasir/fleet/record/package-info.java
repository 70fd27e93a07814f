/**
 * Records what engines told and what was decided as JSON lines, and plays recordings back.
 *
 * <p>An {@link io.kvasir.fleet.record.EventRecorder} takes {@link
 * io.kvasir.fleet.record.JsonEvent}s from any thread without making it wait and writes them to a
 * file, or a row of files. A {@link io.kvasir.fleet.record.RecordingReader} reads them, a {@link
 * io.kvasir.fleet.record.RecordingReplay} hands them out in their old rhythm. Nobody here knows
 * what an event means, but for {@link io.kvasir.fleet.record.RankChange}.
 */
package io.kvasir.fleet.record;
