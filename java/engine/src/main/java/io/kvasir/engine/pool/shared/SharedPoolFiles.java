package io.kvasir.engine.pool.shared;

import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The files of a shared pool. They are {@link PrivateFiles}, and they appear under their names only
 * when complete.
 *
 * <p>Stateless.
 */
final class SharedPoolFiles {

  private static final int ZEROS_PER_WRITE = 1 << 16;

  private SharedPoolFiles() {}

  /** The owner's lock file, which its process keeps locked. */
  static Path lockOf(Path file) {
    return file.resolveSibling(file.getFileName() + ".lock");
  }

  static Path snapshotOf(Path file) {
    return file.resolveSibling(file.getFileName() + ".snapshot");
  }

  private static Path draftOf(Path file) {
    return file.resolveSibling(file.getFileName() + ".new");
  }

  /** Opens a lock file and creates it if missing. */
  static FileChannel openLock(Path lock) throws IOException {
    try {
      PrivateFiles.create(lock).close();
    } catch (FileAlreadyExistsException e) {
      // The file of an earlier owner, or of a live one.
    }
    return PrivateFiles.open(lock, WRITE);
  }

  /** Writes the content of a file. */
  interface Content {
    void writeTo(FileChannel draft) throws IOException;
  }

  /** Writes a file under another name and renames it. The process must hold the lock. */
  static void publish(Path file, Content content) throws IOException {
    Path draft = draftOf(file);
    PrivateFiles.delete(draft);
    try (FileChannel channel = PrivateFiles.create(draft)) {
      content.writeTo(channel);
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  /**
   * Writes zeros to allocate the file's space now. If the disk were full at the first access of a
   * mapped page, the process would crash.
   */
  static void allocateSpace(Path file, FileChannel channel, long bytes) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocate(ZEROS_PER_WRITE);
    try {
      for (long at = 0; at < bytes; ) {
        zeros.clear().limit((int) Math.min(ZEROS_PER_WRITE, bytes - at));
        at += channel.write(zeros, at);
      }
    } catch (IOException e) {
      throw new IOException(
          "no space for the " + bytes + " bytes of " + file + ": " + e.getMessage(), e);
    }
  }

  /** Reads the first bytes of a file. */
  static ByteBuffer readHead(Path file, FileChannel channel, int bytes) throws IOException {
    ByteBuffer head = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    readFully(file, channel, head, 0);
    return head;
  }

  /** Fills a buffer from a position in a file. */
  static void readFully(Path file, FileChannel channel, ByteBuffer to, long from)
      throws IOException {
    while (to.hasRemaining()) {
      if (channel.read(to, from + to.position()) < 0) {
        throw new IOException(
            file + " is truncated: it ends before byte " + (from + to.capacity()));
      }
    }
    to.flip();
  }
}
