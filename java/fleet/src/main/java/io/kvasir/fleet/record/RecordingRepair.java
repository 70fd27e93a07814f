package io.kvasir.fleet.record;

import io.kvasir.model.Errors;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Reduces a damaged recording to its whole lines, in order and byte for byte. Each damaged file is
 * replaced in one step; the original is kept next to it as {@code FILE.damaged}. Other files are
 * not changed. Used once.
 */
public final class RecordingRepair {

  private final List<Path> damaged = new ArrayList<>();
  private long kept;
  private long dropped;
  private String firstDamage = "";

  private RecordingRepair() {}

  /**
   * What a repair did.
   *
   * @param kept lines that are events
   * @param dropped lines that are not, without blank ones
   * @param firstDamage the file, line and byte of the first dropped line, and what is wrong with
   *     it; empty if there is none
   * @param damaged copies of the damaged files
   */
  public record Result(long kept, long dropped, String firstDamage, List<Path> damaged) {}

  /**
   * Repairs a recording. O(bytes).
   *
   * @param first its file, or the first of its rotated files
   * @return what was done
   * @throws InvalidRecordingException if there is no such file
   * @throws RecordingInUseException if it is being recorded or repaired
   * @throws IOException if a file cannot be read or written, or if a file {@code FILE.damaged}
   *     exists
   */
  public static Result run(Path first) throws IOException {
    List<Path> files = RecordingFiles.of(first);
    RecordingRepair repair = new RecordingRepair();
    Closeable lock = RecordingLock.take(first);
    try (lock) {
      for (Path file : files) {
        repair.repair(file);
      }
    }
    return new Result(repair.kept, repair.dropped, repair.firstDamage, List.copyOf(repair.damaged));
  }

  private void repair(Path file) throws IOException {
    Path real = file.toRealPath();
    if (!Files.isRegularFile(real)) {
      throw new InvalidRecordingException(Errors.shown(file) + ": is not a regular file");
    }
    Path whole = real.resolveSibling(real.getFileName() + ".repaired");
    try (FileChannel in =
            RecordingLock.open(real, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileChannel out =
            FileChannel.open(
                whole,
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
      Files.setPosixFilePermissions(whole, Files.getPosixFilePermissions(real));
      if (copy(new RecordingLines(file, Channels.newInputStream(in)), out) > 0) {
        Path original = real.resolveSibling(real.getFileName() + ".damaged");
        Files.copy(real, original, StandardCopyOption.COPY_ATTRIBUTES);
        damaged.add(original);
        Files.move(whole, real, StandardCopyOption.ATOMIC_MOVE);
      }
    } finally {
      Files.deleteIfExists(whole);
    }
  }

  /** Copies whole lines; returns the number of others. */
  private long copy(RecordingLines lines, FileChannel channel) throws IOException {
    long before = dropped;
    try (OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel))) {
      while (lines.next()) {
        try {
          RecordedEvent unused = lines.event();
          lines.writeTo(out);
          kept++;
        } catch (InvalidRecordingException e) {
          if (dropped++ == 0) {
            firstDamage = Errors.reason(e);
          }
        }
      }
      out.flush();
      if (dropped > before) {
        channel.force(true);
      }
    }
    return dropped - before;
  }
}
