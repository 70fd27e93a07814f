package io.kvasir.fleet.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

  /** Deletes all files but the first. */
  static void removeFurther(Path first) throws IOException {
    for (int number = 1; Files.deleteIfExists(numbered(first, number)); number++) {
      // Until one is missing.
    }
  }
}
