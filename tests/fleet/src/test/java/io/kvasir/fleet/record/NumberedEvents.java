package io.kvasir.fleet.record;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Events of recordings that differ by their numbers. */
final class NumberedEvents {

  private NumberedEvents() {}

  static void record(Path file, RecorderOptions options, int from, int count) throws IOException {
    try (EventRecorder recorder = EventRecorder.open(file, options)) {
      for (int i = from; i < from + count; i++) {
        recorder.record(numbered(i));
      }
    }
  }

  static JsonEvent numbered(int number) {
    return JsonEvent.ofJson("{\"number\":" + number + "}");
  }

  static List<Integer> numbers(Path file) throws IOException {
    List<Integer> numbers = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(file)) {
      for (RecordedEvent event = reader.next(); event != null; event = reader.next()) {
        numbers.add(Integer.valueOf(event.json().replaceAll("[^0-9]", "")));
      }
    }
    return numbers;
  }
}
