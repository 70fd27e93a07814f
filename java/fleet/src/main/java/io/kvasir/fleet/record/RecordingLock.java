package io.kvasir.fleet.record;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The exclusive right to write a recording: a lock on the empty file {@code FILE.lock} next to its
 * first file, over all rotations. The system releases the lock when the process dies. The lock file
 * remains, because a recorder could otherwise lock a file that another one has just deleted.
 *
 * <p>The file being written is locked too, which refuses a recorder that was given the name of a
 * rotated file. That lock alone would not be enough: it ends as soon as this process closes any
 * channel of the file, for example that of a reader.
 */
final class RecordingLock implements Closeable {

  /** Lock files held by this process: a second channel of one would end the lock when it closes. */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path lockFile;
  private final FileChannel channel;

  private RecordingLock(Path lockFile, FileChannel channel) {
    this.lockFile = lockFile;
    this.channel = channel;
  }

  /**
   * Locks a recording. Its first file is created if missing and otherwise not touched. Devices and
   * pipes are not locked.
   *
   * @throws RecordingInUseException if it is locked
   */
  static Closeable take(Path first) throws IOException {
    if (!Files.exists(first)) {
      FileChannel.open(first, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
    }
    Path real = first.toRealPath();
    if (!Files.isRegularFile(real)) {
      return () -> {};
    }
    Path lockFile = real.resolveSibling(real.getFileName() + ".lock");
    if (!HELD.add(lockFile)) {
      throw new RecordingInUseException(first);
    }
    try {
      FileChannel channel =
          lock(
              first,
              FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE));
      return new RecordingLock(lockFile, channel);
    } catch (IOException | RuntimeException e) {
      HELD.remove(lockFile);
      throw e;
    }
  }

  /**
   * Opens and locks one file of a recording.
   *
   * @throws RecordingInUseException if it is locked
   */
  static FileChannel open(Path file, OpenOption... options) throws IOException {
    FileChannel channel = FileChannel.open(file, options);
    return Files.isRegularFile(file) ? lock(file, channel) : channel;
  }

  private static FileChannel lock(Path file, FileChannel channel) throws IOException {
    try {
      if (channel.tryLock() != null) {
        return channel;
      }
    } catch (OverlappingFileLockException e) {
      // Locked by this process.
    } catch (IOException e) {
      channel.close();
      throw new IOException(file + ": cannot be locked: " + e.getMessage(), e);
    }
    channel.close();
    throw new RecordingInUseException(file);
  }

  @Override
  public void close() throws IOException {
    if (channel.isOpen()) {
      channel.close();
      HELD.remove(lockFile);
    }
  }
}
