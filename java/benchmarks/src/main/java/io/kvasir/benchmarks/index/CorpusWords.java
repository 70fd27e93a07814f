package io.kvasir.benchmarks.index;

import io.kvasir.hash.Xxh3;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/** The words of a corpus file in sequence, with a running checksum. Not thread-safe. */
final class CorpusWords implements AutoCloseable {

  private final Path file;
  private final FileChannel channel;
  private final CorpusHeader header;
  private final ByteBuffer chunk =
      ByteBuffer.allocate(CorpusHeader.CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private long unreadBytes;
  private long checksum;

  CorpusWords(Path file) throws IOException {
    this.file = file;
    try {
      this.channel = FileChannel.open(file, StandardOpenOption.READ);
    } catch (NoSuchFileException e) {
      throw new InvalidCorpusException(Errors.shown(file) + ": no such file");
    }
    try {
      ByteBuffer head = ByteBuffer.allocate(CorpusHeader.BYTES);
      fill(head);
      this.header = CorpusHeader.decode(file, Arrays.copyOf(head.array(), head.position()));
      this.unreadBytes = header.contentBytes();
      if (channel.size() != CorpusHeader.BYTES + unreadBytes) {
        throw new InvalidCorpusException(
            file
                + ": must have "
                + (CorpusHeader.BYTES + unreadBytes)
                + " bytes, not "
                + channel.size());
      }
      chunk.limit(0);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  CorpusHeader header() {
    return header;
  }

  long next() throws IOException {
    if (!chunk.hasRemaining()) {
      refill();
    }
    return chunk.getLong();
  }

  long[] next(int count) throws IOException {
    requireRoom(count);
    long[] words = new long[count];
    for (int i = 0; i < count; i++) {
      words[i] = next();
    }
    return words;
  }

  /** Rejects a count that exceeds the rest of the file, before memory is allocated for it. */
  void requireRoom(long count) throws InvalidCorpusException {
    if (count > (unreadBytes + chunk.remaining()) / Long.BYTES) {
      throw damaged();
    }
  }

  /** Rejects a file with trailing content or a different checksum. */
  void requireEnd() throws IOException {
    if (unreadBytes > 0 || chunk.hasRemaining() || checksum != header.checksum()) {
      throw damaged();
    }
  }

  InvalidCorpusException damaged() {
    return new InvalidCorpusException(file + ": the content is damaged; remove the file");
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  private void refill() throws IOException {
    if (unreadBytes < Long.BYTES) {
      throw damaged();
    }
    chunk.clear().limit((int) Math.min(unreadBytes, CorpusHeader.CHUNK_BYTES));
    fill(chunk);
    if (chunk.hasRemaining()) {
      throw damaged();
    }
    chunk.flip();
    unreadBytes -= chunk.limit();
    checksum = Xxh3.hash(Arrays.copyOf(chunk.array(), chunk.limit()), checksum);
  }

  private void fill(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
      // Repeats until the buffer is full or the file ends.
    }
  }
}
