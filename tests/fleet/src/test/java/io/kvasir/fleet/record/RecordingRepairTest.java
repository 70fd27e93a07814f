package io.kvasir.fleet.record;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingRepairTest {

  private static final String FIRST = "{\"timestamp\":1,\"event\":{\"number\":1}}\n";
  private static final String SECOND = " {\"event\":{\"a\":[\"\\n\"]}, \"timestamp\":0}\r\n";
  private static final String LAST = "{\"timestamp\":2,\"event\":{}}";

  @TempDir private Path folder;

  private Path file() {
    return folder.resolve("events.jsonl");
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void keepsEveryWholeLineInOrder() throws IOException {
    String damaged =
        FIRST
            + "{\"timestamp\":3,\"event\":{\"num" // two recorders in one file
            + FIRST
            + "\n"
            + "\0\0\0\0"
            + FIRST
            + SECOND
            + "{\"timestamp\":3,\"event\":{\"a\":\"\u00FF\"}}\n" // not UTF-8
            + LAST;
    Files.writeString(file(), damaged, ISO_8859_1);
    Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-------"));

    RecordingRepair.Result result = RecordingRepair.run(file());

    assertThat(result.kept()).isEqualTo(3);
    assertThat(result.dropped()).isEqualTo(3);
    assertThat(result.firstDamage())
        .startsWith(file() + ":2: must be a JSON object: ")
        .endsWith(" (the line begins at byte " + FIRST.length() + ")");
    assertThat(result.damaged()).containsExactly(folder.resolve("events.jsonl.damaged"));
    assertThat(file()).hasContent(FIRST + SECOND + LAST + "\n");
    assertThat(Files.readString(file())).isEqualTo(FIRST + SECOND + LAST + "\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
        .isEqualTo("rw-------");
    assertThat(Files.readString(result.damaged().get(0), ISO_8859_1)).isEqualTo(damaged);
    assertThat(names())
        .containsExactly("events.jsonl", "events.jsonl.damaged", "events.jsonl.lock");

    assertThat(RecordingRepair.run(file()))
        .as("of a whole recording")
        .isEqualTo(new RecordingRepair.Result(3, 0, "", List.of()));
  }

  @Test
  void repairsEachRotatedFileAndLeavesWholeOnesAlone() throws IOException {
    Path real = Files.createDirectory(folder.resolve("elsewhere")).resolve("second");
    Files.writeString(file(), FIRST);
    Files.writeString(real, FIRST + "{\"times");
    Files.createSymbolicLink(folder.resolve("events-1.jsonl"), real);
    Files.writeString(folder.resolve("events-2.jsonl"), "nonsense\n" + FIRST);
    Object before = Files.getAttribute(file(), "unix:ino");

    RecordingRepair.Result result = RecordingRepair.run(file());

    assertThat(result.kept()).isEqualTo(3);
    assertThat(result.dropped()).isEqualTo(2);
    assertThat(result.firstDamage()).startsWith(folder.resolve("events-1.jsonl") + ":2: ");
    assertThat(result.damaged())
        .containsExactly(
            real.resolveSibling("second.damaged").toRealPath(),
            folder.toRealPath().resolve("events-2.jsonl.damaged"));
    assertThat(Files.getAttribute(file(), "unix:ino")).isEqualTo(before);
    assertThat(folder.resolve("events-1.jsonl")).isSymbolicLink().hasContent(FIRST);
    assertThat(folder.resolve("events-2.jsonl")).hasContent(FIRST);
  }

  @Test
  void changesNothingIfItIsRefused() throws IOException {
    assertThatThrownBy(() -> RecordingRepair.run(file()))
        .isInstanceOf(InvalidRecordingException.class)
        .hasMessage(file() + ": no such file");
    assertThatThrownBy(() -> RecordingRepair.run(folder)).hasMessageContaining("is a directory");
    assertThatThrownBy(() -> RecordingRepair.run(Path.of("/dev/null")))
        .hasMessage("/dev/null: is not a regular file");
    assertThat(names()).isEmpty();

    EventRecorder recorder = EventRecorder.open(file(), RecorderOptions.DEFAULT);
    assertThatThrownBy(() -> RecordingRepair.run(file()))
        .isInstanceOf(RecordingInUseException.class);
    recorder.close();

    Files.writeString(file(), "nonsense\n");
    Path kept = Files.writeString(folder.resolve("events.jsonl.damaged"), "of an earlier repair");
    assertThatThrownBy(() -> RecordingRepair.run(file()))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(file()).hasContent("nonsense\n");
    assertThat(kept).hasContent("of an earlier repair");
    assertThat(names()).doesNotContain("events.jsonl.repaired");
  }
}
