package io.kvasir.benchmarks.index;

import io.kvasir.hash.Xxh3;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * Writes a corpus file, operation by operation. The file gets its final name only when it is
 * complete. Not thread-safe.
 */
final class CorpusWriter implements AutoCloseable {

  private final Path file;
  private final Path part;
  private final FileChannel channel;
  private final ByteBuffer chunk =
      ByteBuffer.allocate(CorpusHeader.CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private final int workers;
  private long contentBytes;
  private long checksum;
  private int queries;
  private int changes;
  private long queryBlocks;
  private long storedBlocks;
  private long removedBlocks;
  private boolean finished;

  CorpusWriter(Path file, int workers) throws IOException {
    this.file = file;
    this.workers = workers;
    this.part = file.resolveSibling(file.getFileName() + ".part");
    this.channel =
        FileChannel.open(
            part,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
    channel.position(CorpusHeader.BYTES);
  }

  void query(int worker, long atNs, long[] localHashes) throws IOException {
    begin(CorpusHeader.QUERY, worker, localHashes.length, atNs);
    for (long hash : localHashes) {
      put(hash);
    }
    queries++;
    queryBlocks += localHashes.length;
  }

  /** The blocks of a prompt from {@code from} on were stored. */
  void stored(int worker, long atNs, int from, long[] handles, long[] localHashes)
      throws IOException {
    int count = handles.length - from;
    int kind = from == 0 ? CorpusHeader.STORED_ROOT : CorpusHeader.STORED_AFTER;
    begin(kind, worker, count, atNs);
    if (from > 0) {
      put(handles[from - 1]);
    }
    for (int i = from; i < handles.length; i++) {
      put(handles[i]);
      put(localHashes[i]);
    }
    changes++;
    storedBlocks += count;
  }

  void removed(int worker, long atNs, long[] handles) throws IOException {
    begin(CorpusHeader.REMOVED, worker, handles.length, atNs);
    for (long handle : handles) {
      put(handle);
    }
    changes++;
    removedBlocks += handles.length;
  }

  /** Completes the file and renames it. */
  CorpusHeader finish(String description, long hashNs, long hashedBlocks) throws IOException {
    flush();
    CorpusHeader header =
        new CorpusHeader(
            new CorpusCounts(workers, queries, changes, queryBlocks, storedBlocks, removedBlocks),
            hashNs,
            hashedBlocks,
            contentBytes,
            checksum,
            description);
    channel.position(0);
    write(ByteBuffer.wrap(header.encode()));
    channel.close();
    Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    finished = true;
    return header;
  }

  /** Deletes an unfinished file. */
  @Override
  public void close() throws IOException {
    channel.close();
    if (!finished) {
      Files.deleteIfExists(part);
    }
  }

  private void begin(int kind, int worker, int count, long atNs) throws IOException {
    put(CorpusHeader.word(kind, worker, count));
    put(atNs);
  }

  private void put(long word) throws IOException {
    if (!chunk.hasRemaining()) {
      flush();
    }
    chunk.putLong(word);
  }

  private void flush() throws IOException {
    if (chunk.position() == 0) {
      return;
    }
    checksum = Xxh3.hash(Arrays.copyOf(chunk.array(), chunk.position()), checksum);
    contentBytes += chunk.position();
    write(chunk.flip());
    chunk.clear();
  }

  private void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }
}
