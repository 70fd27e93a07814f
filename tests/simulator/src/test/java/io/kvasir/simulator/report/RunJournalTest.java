package io.kvasir.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunJournalTest {

  @TempDir private Path folder;

  @Test
  void aRunThatIsKeptIsNotPlayedAgain() throws IOException {
    List<Double> values = List.of(1.5, -2e-7, Double.NaN, 1e300, Double.POSITIVE_INFINITY);
    try (RunJournal journal = RunJournal.open(file(), "1 (a)")) {
      assertThat(journal.of("a \"b\"", () -> values)).isEqualTo(values);
      assertThat(journal.of("a \"b\"", RunJournalTest::playedAgain)).isEqualTo(values);
    }
    try (RunJournal journal = RunJournal.open(file(), "1 (a)")) {
      assertThat(journal.of("a \"b\"", RunJournalTest::playedAgain)).isEqualTo(values);
      assertThat(journal.of("none", List::of)).isEmpty();
    }
  }

  @Test
  void aLineThatWasCutIsPlayedAgain() throws IOException {
    try (RunJournal journal = RunJournal.open(file(), "1")) {
      journal.of("first", () -> List.of(1.0));
      journal.of("second", () -> List.of(2.0, 3.0));
    }
    String whole = Files.readString(file());
    int second = whole.indexOf("{\"run\":\"second\"");
    for (int length = second; length < whole.length() - 1; length++) {
      Files.writeString(file(), whole.substring(0, length));
      try (RunJournal journal = RunJournal.open(file(), "1")) {
        assertThat(journal.of("first", RunJournalTest::playedAgain)).containsExactly(1.0);
        assertThat(journal.of("second", () -> List.of(4.0))).containsExactly(4.0);
      }
      try (RunJournal journal = RunJournal.open(file(), "1")) {
        assertThat(journal.of("second", RunJournalTest::playedAgain)).containsExactly(4.0);
      }
    }
  }

  @Test
  void journalsOfOtherBuildsAndOtherFilesAreRefused() throws IOException {
    RunJournal.open(file(), "1").close();
    assertThatThrownBy(() -> RunJournal.open(file(), "2"))
        .isInstanceOf(IOException.class)
        .hasMessage(file() + ": a journal of another build, not of 2; remove it");
    Files.writeString(file(), "mine\n");
    assertThatThrownBy(() -> RunJournal.open(file(), "1"))
        .isInstanceOf(IOException.class)
        .hasMessage(file() + ": not a journal");
    assertThat(file()).hasContent("mine");
    assertThatThrownBy(() -> RunJournal.open(folder, "1"))
        .isInstanceOf(IOException.class)
        .hasMessage(folder + ": not a file");
  }

  @Test
  void anEmptyFileIsANewJournalAndAnOpenOneIsLeftAlone() throws IOException {
    Files.createFile(file());
    try (RunJournal journal = RunJournal.open(file(), "1")) {
      journal.of("first", () -> List.of(1.0));
      assertThatThrownBy(() -> RunJournal.open(file(), "1"))
          .isInstanceOf(IOException.class)
          .hasMessage(file() + ": open in another place");
      journal.of("second", () -> List.of(2.0));
    }
    try (RunJournal journal = RunJournal.open(file(), "1")) {
      assertThat(journal.of("second", RunJournalTest::playedAgain)).containsExactly(2.0);
    }
  }

  @Test
  void aDamagedLineIsRefused() throws IOException {
    try (RunJournal journal = RunJournal.open(file(), "1")) {
      journal.of("first", () -> List.of(1.0, 22.0));
      journal.of("second", () -> List.of(2.0));
    }
    String whole = Files.readString(file());
    int first = whole.indexOf("{\"run\":\"first\"");
    for (String damaged : List.of(whole.replace("22.0", "-2.0"), whole.replace(",22.0", ""))) {
      Files.writeString(file(), damaged);
      assertThatThrownBy(() -> RunJournal.open(file(), "1"))
          .isInstanceOf(IOException.class)
          .hasMessage(file() + ": the line at byte " + first + " is not that of a replay");
      assertThat(file()).hasContent(damaged.strip());
    }
    Files.writeString(file(), whole.substring(0, 7));
    try (RunJournal journal = RunJournal.open(file(), "1")) {
      assertThat(journal.of("first", () -> List.of(3.0))).containsExactly(3.0);
    }
  }

  @Tag("process")
  @Test
  void oneProcessAtATimeHasItOpen() throws IOException {
    try (RunJournal journal = RunJournal.open(file(), "1")) {
      journal.of("first", () -> List.of(1.0));
      List<String> command = Jdk.java(List.of(), Opens.class.getName(), file().toString());
      ChildProcess other = ChildProcess.run("another process", new ProcessBuilder(command));
      assertThat(other.exitCode()).as(other.toString()).isEqualTo(1);
      assertThat(other.errors()).contains(file() + ": open in another process");
    }
  }

  /** Opens a journal in a process of its own. */
  static final class Opens {

    private Opens() {}

    public static void main(String[] args) throws IOException {
      RunJournal.open(Path.of(args[0]), "1").close();
    }
  }

  private static List<Double> playedAgain() {
    throw new AssertionError("played again");
  }

  private Path file() {
    return folder.resolve("runs.jsonl");
  }
}
