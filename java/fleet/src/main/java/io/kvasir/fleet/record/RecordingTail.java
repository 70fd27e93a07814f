package io.kvasir.fleet.record;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * The part of a file that is kept when its recording is continued: the whole lines, and a last
 * event that only lacks its line end. Immutable.
 *
 * @param lines number of lines
 * @param bytes length of these
 * @param unfinished whether the last of them lacks its line end
 */
record RecordingTail(long lines, long bytes, boolean unfinished) {

  private static final int CHUNK_BYTES = 1 << 16;

  /** Scans a file from its start; O(bytes). Moves the channel. */
  static RecordingTail of(Path file, FileChannel channel) throws IOException {
    ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
    long lines = 0;
    long whole = 0;
    long at = 0;
    while (channel.read(chunk, at) > 0) {
      for (int i = 0; i < chunk.position(); i++) {
        if (chunk.get(i) == '\n') {
          lines++;
          whole = at + i + 1;
        }
      }
      at += chunk.position();
      chunk.clear();
    }
    return at > whole && isEvent(file, channel.position(whole))
        ? new RecordingTail(lines + 1, at, true)
        : new RecordingTail(lines, whole, false);
  }

  /** Whether the rest of a file is an event. */
  private static boolean isEvent(Path file, FileChannel rest) throws IOException {
    RecordingLines last = new RecordingLines(file, Channels.newInputStream(rest));
    if (!last.next()) {
      return false;
    }
    try {
      RecordedEvent unused = last.event();
      return true;
    } catch (InvalidRecordingException e) {
      return false;
    }
  }
}
