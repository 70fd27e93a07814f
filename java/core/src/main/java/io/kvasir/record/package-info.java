/**
 * Records what engines told and what was decided as JSON lines, and plays recordings back.
 *
 * <p>An {@link io.kvasir.record.EventRecorder} takes {@link io.kvasir.record.JsonEvent}s from any
 * thread without making it wait and writes them to a file, or a row of files. A {@link
 * io.kvasir.record.RecordingReader} reads them, a {@link io.kvasir.record.RecordingReplay} hands
 * them out in their old rhythm. Nobody here knows what an event means, but for {@link
 * io.kvasir.record.RankChange}.
 */
package io.kvasir.record;
