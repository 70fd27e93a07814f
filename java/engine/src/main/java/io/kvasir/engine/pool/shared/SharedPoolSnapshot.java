package io.kvasir.engine.pool.shared;

import static java.nio.file.StandardOpenOption.READ;

import io.kvasir.engine.pool.DirectoryMirror;
import io.kvasir.internal.nativelib.NativeMemory;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * All sequence hashes of a shared pool at one moment, in a file next to its region. The owner
 * writes it for a reader that has missed events.
 *
 * <p>Stateless.
 */
final class SharedPoolSnapshot {

  /** {@code KVASIRSN} in little-endian byte order. */
  private static final long MAGIC = 0x4e53_5249_5341_564bL;

  private static final int REGION_AT = 8;
  private static final int REQUEST_AT = 16;
  private static final int NEXT_EVENT_AT = 24;
  private static final int HEAD_BYTES = 32;

  private SharedPoolSnapshot() {}

  /** Writes the buckets of a directory, which must not change during the call. */
  static void write(
      Path regionFile,
      SharedPoolLayout.Header header,
      long request,
      long bucketsAddress,
      long nextEvent)
      throws IOException {
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES).order(ByteOrder.nativeOrder());
    head.putLong(0, MAGIC);
    head.putLong(REGION_AT, header.region());
    head.putLong(REQUEST_AT, request);
    head.putLong(NEXT_EVENT_AT, nextEvent);
    ByteBuffer buckets = NativeMemory.view(bucketsAddress, bucketBytes(header));
    SharedPoolFiles.publish(
        SharedPoolFiles.snapshotOf(regionFile),
        draft -> {
          writeFully(draft, head);
          writeFully(draft, buckets);
        });
  }

  /**
   * Loads the snapshot that answers a request, or a later one, into a mirror.
   *
   * @throws IOException if there is none, it is incomplete or damaged, or it is not a regular file
   *     of this user alone
   */
  static void load(
      Path regionFile, SharedPoolLayout.Header header, long request, DirectoryMirror mirror)
      throws IOException {
    Path file = SharedPoolFiles.snapshotOf(regionFile);
    try (FileChannel channel = PrivateFiles.open(file, READ)) {
      long bytes = HEAD_BYTES + (long) bucketBytes(header);
      if (channel.size() != bytes) {
        throw new IOException(file + " has " + channel.size() + " bytes and not " + bytes);
      }
      ByteBuffer head = SharedPoolFiles.readHead(file, channel, HEAD_BYTES);
      if (head.getLong(0) != MAGIC
          || head.getLong(REGION_AT) != header.region()
          || head.getLong(REQUEST_AT) < request
          || head.getLong(NEXT_EVENT_AT) < 0) {
        throw new IOException(file + " is not the requested snapshot");
      }
      ByteBuffer buckets = NativeMemory.allocate(bucketBytes(header));
      SharedPoolFiles.readFully(file, channel, buckets, HEAD_BYTES);
      try {
        if (!mirror.replace(NativeMemory.address(buckets), head.getLong(NEXT_EVENT_AT))) {
          throw new IOException(file + " does not contain the directory of a pool");
        }
      } finally {
        Reference.reachabilityFence(buckets); // keeps the memory during the native call
      }
    }
  }

  private static int bucketBytes(SharedPoolLayout.Header header) {
    return Math.toIntExact(DirectoryMirror.bucketBytes(header.shape().capacityBlocks()));
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }
}
