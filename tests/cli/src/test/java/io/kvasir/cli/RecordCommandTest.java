package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.cli.command.CommandRunner;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.record.EventRecorder;
import io.kvasir.fleet.record.JsonEvent;
import io.kvasir.fleet.record.RankChange;
import io.kvasir.fleet.record.RecorderOptions;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordCommandTest {

  private static final String LINES =
      """
      {"op":"configure","tokensPerBlock":4}
      {"op":"match","tokens":[1,2,3,4]}
      {"op":"stats"}
      """;

  @TempDir private Path folder;

  private static Outcome run(String in, String... options) {
    String[] arguments = new String[options.length + 1];
    arguments[0] = "record";
    System.arraycopy(options, 0, arguments, 1, options.length);
    return Outcome.of(Map.of(), in, arguments);
  }

  private String file() {
    return folder.resolve("ops.jsonl").toString();
  }

  @Test
  void whatWasRecordedIsPrintedAgain() {
    Outcome recorded = run(LINES, "--output", file(), "--rotate-lines", "2");
    assertThat(recorded.exitCode()).as(recorded.err()).isZero();
    assertThat(recorded.err()).isEqualTo(file() + ": 3 events recorded\n");
    assertThat(folder.resolve("ops-1.jsonl")).exists();

    Outcome printed = run("", "--replay", file(), "--as-fast-as-possible");
    assertThat(printed.exitCode()).as(printed.err()).isZero();
    assertThat(printed.out()).isEqualTo(LINES);
    assertThat(printed.err()).isEqualTo(file() + ": 3 events printed\n");

    assertThat(run("", "--replay", file(), "--speed", "1000", "--count", "2").out())
        .isEqualTo(LINES.substring(0, LINES.indexOf("{\"op\":\"stats\"}")));
  }

  /** Both what a user recorded and what an {@link EventRecorder} did. */
  @Test
  void aRecordingCanBePlayedIntoAnIndex() throws IOException {
    assertThat(run("{\"op\":\"configure\",\"tokensPerBlock\":4}\n", "--output", file()).exitCode())
        .isZero();
    RecorderOptions append = new RecorderOptions(2048, 0, 0, 0, 0, 0, true);
    try (EventRecorder recorder = EventRecorder.open(Path.of(file()), append)) {
      BlockEvent stored = BlockEvent.Stored.root(77, new long[] {-1, 12}, new long[] {-5, 6});
      recorder.record(new RankChange(new RankId(-7, 1), 40, stored));
      BlockEvent removed = BlockEvent.Removed.of(new long[] {12});
      recorder.record(new RankChange(new RankId(-7, 1), 41, removed));
      recorder.record(JsonEvent.ofJson("{\"op\":\"stats\"}"));
    }
    String lines = run("", "--replay", file(), "--as-fast-as-possible").out();
    Outcome indexed = Outcome.of(Map.of(), lines, "index");
    assertThat(indexed.exitCode()).as(indexed.out()).isZero();
    assertThat(indexed.out().lines()).hasSize(4);
    assertThat(indexed.out()).contains("\"memberships\":1,").doesNotContain("error");
  }

  @Test
  void aTornEndIsCutAndToldAbout() throws IOException {
    assertThat(run(LINES, "--output", file(), "--count", "2").exitCode()).isZero();
    Files.writeString(Path.of(file()), "{\"timest", StandardOpenOption.APPEND);
    assertThat(run("", "--replay", file(), "--as-fast-as-possible").err())
        .isEqualTo(file() + ": 2 events printed, torn lines skipped: 1\n");
    assertThat(run("{\"op\":\"stats\"}\n", "--output", file(), "--append").err())
        .startsWith(file() + ": removed a torn last line of 8 bytes\n");
    assertThat(run("", "--replay", file(), "--as-fast-as-possible").out()).isEqualTo(LINES);
  }

  @Test
  void aFileInUseIsRefusedAndNotChanged() throws IOException {
    try (EventRecorder recorder = EventRecorder.open(Path.of(file()), RecorderOptions.DEFAULT)) {
      recorder.record(JsonEvent.ofJson("{\"op\":\"stats\"}"));
      String inUse = file() + ": is in use by another recorder or repair\n";
      refused(ExitCode.FAILED, inUse, "--output", file());
      refused(ExitCode.FAILED, inUse, "--output", file(), "--append");
      refused(ExitCode.FAILED, inUse, "--repair", file());
    }
    assertThat(run("", "--replay", file()).out()).isEqualTo("{\"op\":\"stats\"}\n");
  }

  @Test
  void aReplaySaysWhereTheDamageIsAndARepairKeepsTheRest() throws IOException {
    assertThat(run(LINES, "--output", file()).exitCode()).isZero();
    String lines = Files.readString(Path.of(file()));
    int second = lines.indexOf('\n') + 1;
    Files.writeString(Path.of(file()), lines.substring(0, second) + "{\n" + lines);
    String where = file() + ":2: must be a JSON object: ";
    String at = " (the line begins at byte " + second + ")\n";

    Outcome replayed = run("", "--replay", file(), "--as-fast-as-possible");
    assertThat(replayed.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(replayed.err()).startsWith(where).endsWith(at);

    Outcome repaired = run("", "--repair", file());
    assertThat(repaired.exitCode()).isZero();
    assertThat(repaired.err())
        .startsWith(file() + ": 4 lines kept, 1 dropped\nfirst damaged line: " + where)
        .endsWith(at + "the damaged file is kept as " + file() + ".damaged\n");
    assertThat(Path.of(file())).hasContent(lines.substring(0, second) + lines);
    assertThat(run("", "--repair", file()).err())
        .isEqualTo(file() + ": 4 lines kept, 0 dropped; nothing changed\n");
  }

  /** The input stays open, so that nothing but the option can cause the write. */
  @Test
  void aLineIsWrittenWithinTheFlushTime() throws Exception {
    PipedInputStream in = new PipedInputStream();
    Console console =
        new Console(
            in,
            OutputStream.nullOutputStream(),
            new PrintStream(OutputStream.nullOutputStream()),
            false,
            Map.of());
    CommandRunner runner = new CommandRunner(console, FakeMachine.withoutGpu());
    Thread recording =
        new Thread(() -> runner.run("record", "--output", file(), "--flush-ms", "10"));
    try (PipedOutputStream lines = new PipedOutputStream(in)) {
      recording.start();
      lines.write(LINES.getBytes(StandardCharsets.UTF_8));
      lines.flush();
      Await.until(
          "a written line", () -> Files.exists(Path.of(file())) && Files.size(Path.of(file())) > 0);
    }
    Await.end(recording);
    assertThat(run("", "--replay", file(), "--as-fast-as-possible").out()).isEqualTo(LINES);
  }

  @Test
  void aLineThatIsNoObjectIsLeftOut() {
    Outcome recorded =
        run("{\"op\":\"stats\"}\nnonsense\n\n{\"op\":\"stats\"}\n", "--output", file());
    assertThat(recorded.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(recorded.err())
        .startsWith("line 2: an event must be a JSON object")
        .contains(": 2 events recorded");
  }

  @Test
  void aFullDiskIsAFailure() {
    assumeTrue(Files.exists(Path.of("/dev/full")), "no /dev/full");
    Outcome recorded = run(LINES, "--output", "/dev/full");
    assertThat(recorded.exitCode()).isEqualTo(ExitCode.FAILED);
    assertThat(recorded.err())
        .contains("/dev/full: cannot be written: ")
        .contains("events lost: 3");
  }

  @Test
  void wrongUsageAndWrongFilesAreNamed() throws IOException {
    String oneOf = "--output or --replay or --repair must be given, and only one of them";
    refused(ExitCode.USAGE, oneOf);
    refused(ExitCode.USAGE, oneOf, "--output", "a", "--replay", "b");
    refused(ExitCode.USAGE, oneOf, "--repair", "a", "--replay", "b");
    String flushMs = "--flush-ms must be an integer from 0 to 3600000, not '3600001'";
    refused(ExitCode.USAGE, flushMs, "--output", "a", "--flush-ms", "3600001");
    refused(ExitCode.USAGE, "--count must be an integer from 1", "--output", "a", "--count", "0");
    refused(ExitCode.USAGE, "--speed must be a number", "--replay", "a", "--speed", "0");
    refused(ExitCode.USAGE, "/no/such: no such file", "--replay", "/no/such");
    refused(ExitCode.USAGE, "/no/such: no such file", "--repair", "/no/such");
    refused(ExitCode.FAILED, "/no/such: no such file or directory", "--output", "/no/such");
    Path wrong = Files.writeString(folder.resolve("wrong"), "{}\n");
    refused(ExitCode.USAGE, wrong + ":1: event is missing", "--replay", wrong.toString());
  }

  private static void refused(int exitCode, String message, String... options) {
    Outcome outcome = run("", options);
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(exitCode);
    assertThat(outcome.err()).startsWith(message);
  }
}
