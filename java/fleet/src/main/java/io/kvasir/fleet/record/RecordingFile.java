package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.io.SerializedString;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The file that a recorder writes to, or the sequence of rotated files. Only whole lines are passed
 * to the system, so a crashed process leaves at most one torn line; a recording that is continued
 * keeps a last event that only lacks its line end. Holds the {@link RecordingLock} until it is
 * closed. Confined to the recorder's thread.
 */
final class RecordingFile implements Closeable {

  private static final int BUFFER_BYTES = 32 << 10;
  private static final SerializedString TIMESTAMP = new SerializedString("timestamp");
  private static final SerializedString EVENT = new SerializedString("event");

  private final Path first;
  private final long rotateLines;
  private final Closeable lock;
  private final Lines buffer = new Lines();
  private final JsonGenerator json;
  private FileChannel channel;
  private int number;
  private long linesInFile;
  private long bufferedLines;
  private long writtenLines;
  private long writtenBytes;
  private long cutBytes;

  /** A buffer of whole lines and the line being written. */
  private static final class Lines extends ByteArrayOutputStream {
    Lines() {
      super(BUFFER_BYTES);
    }

    void truncate(int bytes) {
      count = bytes;
    }

    ByteBuffer bytes() {
      return ByteBuffer.wrap(buf, 0, count);
    }
  }

  RecordingFile(Path first, long rotateLines, boolean append) throws IOException {
    this.first = first;
    this.rotateLines = rotateLines;
    this.json = RecordingJson.FACTORY.createGenerator(buffer).setRootValueSeparator(null);
    this.lock = RecordingLock.take(first);
    FileChannel opened = null;
    try {
      if (append && Files.isRegularFile(first)) {
        number = RecordingFiles.existing(first).size() - 1;
        opened = open(StandardOpenOption.READ, StandardOpenOption.WRITE);
        RecordingTail tail = RecordingTail.of(first, opened);
        linesInFile = tail.lines();
        cutBytes = opened.size() - tail.bytes();
        opened.truncate(tail.bytes());
        opened.position(tail.bytes());
        if (tail.unfinished()) {
          opened.write(ByteBuffer.wrap(new byte[] {'\n'}));
        }
      } else {
        opened = open(StandardOpenOption.WRITE);
        if (rotateLines > 0 && Files.isRegularFile(first)) {
          RecordingFiles.removeFurther(first);
        }
        empty(opened);
      }
      channel = opened;
    } catch (IOException | RuntimeException e) {
      try {
        release(opened);
      } catch (IOException again) {
        e.addSuppressed(again);
      }
      throw e;
    }
  }

  private FileChannel open(OpenOption... options) throws IOException {
    return RecordingLock.open(RecordingFiles.numbered(first, number), options);
  }

  private static void empty(FileChannel file) throws IOException {
    if (file.size() > 0) {
      file.truncate(0);
    }
  }

  /** Bytes of a torn last line that were cut off when the recording was continued. */
  long cutBytes() {
    return cutBytes;
  }

  /** Lines passed to the system. */
  long writtenLines() {
    return writtenLines;
  }

  /** Bytes passed to the system by this recorder. */
  long writtenBytes() {
    return writtenBytes;
  }

  boolean hasBuffered() {
    return bufferedLines > 0;
  }

  /** Adds a line; writes if the buffer is full. After a failure, no further line can be added. */
  void append(long timestampMs, JsonEvent event) throws IOException {
    if (rotateLines > 0 && linesInFile + bufferedLines >= rotateLines) {
      flush();
      channel.close();
      number++;
      channel = open(StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      empty(channel);
      linesInFile = 0;
    }
    int whole = buffer.size();
    try {
      json.writeStartObject();
      json.writeFieldName(TIMESTAMP);
      json.writeNumber(timestampMs);
      json.writeFieldName(EVENT);
      event.writeTo(json);
      json.writeEndObject();
      json.flush();
      if (buffer.size() - whole > RecordingLines.MAX_BYTES) {
        throw new IOException("an event must have at most " + RecordingLines.MAX_BYTES + " bytes");
      }
    } catch (IOException | RuntimeException e) {
      buffer.truncate(whole);
      throw e;
    }
    buffer.write('\n');
    bufferedLines++;
    if (buffer.size() >= BUFFER_BYTES) {
      flush();
    }
  }

  /** Passes all lines to the system. */
  void flush() throws IOException {
    ByteBuffer bytes = buffer.bytes();
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      cutTorn(bytes.position(), e);
      throw e;
    }
    writtenBytes += buffer.size();
    buffer.reset();
    linesInFile += bufferedLines;
    writtenLines += bufferedLines;
    bufferedLines = 0;
  }

  /** Cuts the file back to whole lines after a failed write. */
  private void cutTorn(int written, IOException failure) {
    byte[] bytes = buffer.toByteArray();
    int whole = written;
    while (whole > 0 && bytes[whole - 1] != '\n') {
      whole--;
    }
    try {
      channel.truncate(channel.position() - (written - whole));
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
    for (int i = 0; i < whole; i++) {
      if (bytes[i] == '\n') {
        writtenLines++;
      }
    }
    buffer.reset();
    bufferedLines = 0;
  }

  @Override
  public void close() throws IOException {
    try {
      if (channel.isOpen()) {
        flush();
      }
    } finally {
      release(channel);
    }
  }

  private void release(@Nullable FileChannel opened) throws IOException {
    try (lock) {
      if (opened != null) {
        opened.close();
      }
    }
  }
}
