package io.kvasir.fleet.record;

import static io.kvasir.fleet.record.NumberedEvents.numbered;
import static io.kvasir.fleet.record.NumberedEvents.numbers;
import static io.kvasir.fleet.record.NumberedEvents.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file has one recorder at a time, in all processes. */
class RecordingInUseTest {

  @TempDir private Path folder;

  private Path file() {
    return folder.resolve("events.jsonl");
  }

  @Test
  void aSecondRecorderIsRefusedWhateverItCallsTheFileAndChangesNothing() throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("link.jsonl"), file());
    Path sameFile = folder.resolve("hard.jsonl");
    Path linked = Files.createSymbolicLink(folder.resolve("again"), folder);
    RecorderOptions rotating = new RecorderOptions(2048, 2, 0, 0, 0, 0, false);
    try (EventRecorder recorder = EventRecorder.open(file(), rotating)) {
      Files.createLink(sameFile, file());
      assertThat(recorder.record(numbered(0))).isTrue();
      for (Path same :
          List.of(
              file(),
              folder.resolve("./events.jsonl"),
              link,
              sameFile,
              linked.resolve("events.jsonl"))) {
        refused(same);
      }
      for (int i = 1; i < 5; i++) {
        recorder.record(numbered(i));
      }
    }
    assertThat(numbers(file())).containsExactly(0, 1, 2, 3, 4);
    record(file(), RecorderOptions.DEFAULT, 5, 1);
    assertThat(Files.readAllLines(file())).hasSize(1);
  }

  private static void refused(Path file) {
    for (boolean append : new boolean[] {false, true}) {
      RecorderOptions options = new RecorderOptions(2048, 2, 0, 0, 0, 0, append);
      assertThatThrownBy(() -> EventRecorder.open(file, options).close())
          .as(file.toString())
          .isInstanceOf(RecordingInUseException.class)
          .hasMessageEndingWith("jsonl: is in use by another recorder or repair");
    }
  }

  @Test
  void aFileThatWasRotatedToIsTakenToo() throws Exception {
    RecorderOptions options = new RecorderOptions(2048, 1, 1, 0, 0, 0, false);
    Path second = folder.resolve("events-1.jsonl");
    try (EventRecorder recorder = EventRecorder.open(file(), options)) {
      recorder.record(numbered(0));
      recorder.record(numbered(1));
      Await.until("a flush", () -> recorder.stats().written() == 2);
      refused(file());
      refused(second);
    }
    try (EventRecorder recorder = EventRecorder.open(second, RecorderOptions.DEFAULT)) {
      assertThatThrownBy(() -> EventRecorder.open(file(), options))
          .as("would delete the second file")
          .isInstanceOf(RecordingInUseException.class);
      assertThat(numbers(file())).as("first file").contains(0);
      recorder.record(numbered(7));
    }
    assertThat(numbers(second)).containsExactly(7);
  }

  @Test
  @Tag("process")
  void anotherProcessIsRefusedUntilThisOneDies() throws Exception {
    try (ChildProcess process = RecorderProcess.start(file(), Long.MAX_VALUE)) {
      assertThat(process.nextLine()).isEqualTo(RecorderProcess.RECORDING);
      refused(file());
      process.kill();
      process.exitCode();
    }
    int recorded = numbers(file()).size();
    RecorderOptions append = new RecorderOptions(2048, 0, 0, 0, 0, 0, true);
    try (EventRecorder recorder = EventRecorder.open(file(), append)) {
      assertThat(numbers(file())).as("a reader does not end the lock").hasSize(recorded);
      refused(file());
      try (ChildProcess second = RecorderProcess.start(file(), 1)) {
        assertThat(second.exitCode()).isEqualTo(1);
        assertThat(second.output()).contains("RecordingInUseException: " + file());
      }
      recorder.record(numbered(0));
    }
    assertThat(numbers(file())).hasSize(recorded + 1);
  }
}
