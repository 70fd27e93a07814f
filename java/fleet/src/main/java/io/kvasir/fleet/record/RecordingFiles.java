package io.kvasir.fleet.record;

import io.kvasir.model.Errors;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The names of a recording's files: {@code events.jsonl}, {@code events-1.jsonl} and so on.
 * Stateless.
 */
final class RecordingFiles {

  private RecordingFiles() {}

  /** The file with a number; 0 for the first. */
  static Path numbered(Path first, int number) {
    if (number == 0) {
      return first;
    }
    String name = String.valueOf(first.getFileName());
    int dot = name.lastIndexOf('.');
    int end = dot <= 0 ? name.length() : dot;
    return first.resolveSibling(name.substring(0, end) + "-" + number + name.substring(end));
  }

  /** The existing files in order, up to the first missing one. */
  static List<Path> existing(Path first) {
    List<Path> files = new ArrayList<>();
    Path next = first;
    while (Files.exists(next)) {
      files.add(next);
      next = numbered(first, files.size());
    }
    return files;
  }

  /**
   * The files of a recording to read.
   *
   * @throws InvalidRecordingException if there is none
   */
  static List<Path> of(Path first) throws InvalidRecordingException {
    List<Path> files = existing(first);
    if (files.isEmpty()) {
      throw new InvalidRecordingException(Errors.shown(first) + ": no such file");
    }
    if (Files.isDirectory(first)) {
      throw new InvalidRecordingException(
          Errors.shown(first) + ": is a directory, not a recording");
    }
    return files;
  }

  /**
   * Deletes all files but the first.
   *
   * @throws RecordingInUseException if one is being recorded
   */
  static void removeFurther(Path first) throws IOException {
    List<Path> files = existing(first);
    for (Path file : files.subList(1, files.size())) {
      FileChannel locked = RecordingLock.open(file, StandardOpenOption.WRITE);
      try (locked) {
        Files.delete(file);
      }
    }
  }
}
