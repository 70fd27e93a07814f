package io.kvasir.fleet.record;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * The part of a file that consists of whole lines. Immutable.
 *
 * @param lines number of whole lines
 * @param bytes length of these
 */
record RecordingTail(long lines, long bytes) {

  private static final int CHUNK_BYTES = 1 << 16;

  /** Scans a file from its start; O(bytes). */
  static RecordingTail of(FileChannel channel) throws IOException {
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
    return new RecordingTail(lines, whole);
  }
}
