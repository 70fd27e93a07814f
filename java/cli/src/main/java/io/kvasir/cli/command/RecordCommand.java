package io.kvasir.cli.command;

import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.fleet.record.EventRecorder;
import io.kvasir.fleet.record.RecorderOptions;
import io.kvasir.fleet.record.RecordingReader;
import io.kvasir.fleet.record.RecordingRepair;
import io.kvasir.fleet.record.RecordingReplay;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir record}: records JSON lines, and replays them with their original timing. */
@Command(
    name = "record",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Records the JSON objects of standard input, one a line, with their arrival times. With"
          + " --replay, prints a recording with its original timing, for example for 'kvasir record"
          + " --replay FILE | kvasir index'. With --repair, drops the damaged lines of a recording.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 done, 1 reading or writing failed or the file is in use by another recorder, 2"
          + " wrong usage, or a line was not a JSON object (it is not recorded) or not an event."
    })
final class RecordCommand implements Callable<Integer> {

  private static final double NS_PER_S = 1e9;
  private static final double MAX_SECONDS = 1e9;
  private static final double MAX_SPEED = 1e9;
  private static final int MAX_FLUSH_MS = 3_600_000;

  private final Console console;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      order = 1,
      description = "File to record to. It is replaced if it exists.")
  private @Nullable String output;

  @Option(
      names = "--append",
      order = 2,
      description = "Continue the recording in the file. A torn last line is removed.")
  private boolean append;

  @Option(
      names = "--rotate-lines",
      paramLabel = "N",
      order = 3,
      description = "Start another file, FILE-1, FILE-2 and so on, after this many lines.")
  private @Nullable String rotateLines;

  @Option(
      names = "--flush-ms",
      paramLabel = "N",
      defaultValue = "1000",
      order = 4,
      description =
          "Longest time before a line is written; 0 waits for 32 KiB (default: ${DEFAULT-VALUE}).")
  private String flushMs;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      order = 5,
      description = "Recording to print, with the files that --rotate-lines added.")
  private @Nullable String replay;

  @Option(
      names = "--speed",
      paramLabel = "X",
      defaultValue = "1",
      order = 6,
      description = "Multiple of the recorded speed (default: ${DEFAULT-VALUE}).")
  private String speed;

  @Option(names = "--as-fast-as-possible", order = 7, description = "Replay without waiting.")
  private boolean asFastAsPossible;

  @Option(
      names = "--repair",
      paramLabel = "FILE",
      order = 8,
      description =
          "Recording to reduce to its whole lines, with the files that --rotate-lines added. A"
              + " damaged file is kept as FILE.damaged.")
  private @Nullable String repair;

  @Option(
      names = "--count",
      paramLabel = "N",
      order = 9,
      description = "Number of events to record or print (default: all).")
  private @Nullable String count;

  @Option(
      names = "--seconds",
      paramLabel = "X",
      order = 10,
      description = "Time after which to stop (default: none).")
  private @Nullable String seconds;

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private CommonOptions common;

  RecordCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    if (Stream.of(output, replay, repair).filter(Objects::nonNull).count() != 1) {
      throw new UsageException(
          "--output", "or --replay or --repair must be given, and only one of them");
    }
    if (output != null) {
      return record(output);
    }
    return replay != null ? replay(replay) : repair(Objects.requireNonNull(repair));
  }

  private int record(String file) throws IOException, InterruptedException {
    RecorderOptions options =
        new RecorderOptions(
            RecorderOptions.DEFAULT.queueEvents(),
            whole("--rotate-lines", rotateLines),
            TimeUnit.MILLISECONDS.toNanos(Values.integer("--flush-ms", flushMs, 0, MAX_FLUSH_MS)),
            whole("--count", count),
            maxNs(),
            append);
    EventRecorder recorder = EventRecorder.open(Values.path("--output", file), options);
    LinesIntoRecorder lines = new LinesIntoRecorder(console, recorder);
    try (recorder) {
      if (recorder.cutBytes() > 0) {
        console.note(file + ": removed a torn last line of " + recorder.cutBytes() + " bytes");
      }
      lines.run(options.maxNs());
    }
    console.note(file + ": " + recorder.stats().written() + " events recorded");
    return lines.invalid() == 0 ? ExitCode.DONE : ExitCode.USAGE;
  }

  private int replay(String file)
      throws IOException, InterruptedException, Console.OutputException {
    double times =
        asFastAsPossible
            ? Double.POSITIVE_INFINITY
            : Values.number("--speed", speed, Double.MIN_VALUE, MAX_SPEED);
    RecordingReplay.Options options =
        new RecordingReplay.Options(times, whole("--count", count), maxNs());
    try (RecordingReader reader = RecordingReader.open(Values.path("--replay", file))) {
      long sent =
          RecordingReplay.run(
              reader, options, RecordingReplay.Clock.SYSTEM, event -> print(event.json()));
      console.write(stream -> {}); // flushes the buffer
      String torn = reader.tornLines() > 0 ? ", torn lines skipped: " + reader.tornLines() : "";
      console.note(file + ": " + sent + " events printed" + torn);
    }
    return ExitCode.DONE;
  }

  private int repair(String file) throws IOException {
    RecordingRepair.Result result = RecordingRepair.run(Values.path("--repair", file));
    String lines = result.kept() + " lines kept, " + result.dropped() + " dropped";
    console.note(file + ": " + lines + (result.dropped() == 0 ? "; nothing changed" : ""));
    if (result.dropped() > 0) {
      console.note("first damaged line: " + result.firstDamage());
    }
    result.damaged().forEach(copy -> console.note("the damaged file is kept as " + copy));
    return ExitCode.DONE;
  }

  /** Prints an event. A timed replay flushes each line. */
  private void print(String event) throws IOException {
    try {
      console.out().write((event + "\n").getBytes(StandardCharsets.UTF_8));
      if (!asFastAsPossible) {
        console.out().flush();
      }
    } catch (IOException e) {
      throw new IOException("cannot write to standard output: " + Errors.reason(e), e);
    }
  }

  private long maxNs() {
    return seconds == null
        ? 0
        : Math.max(1, (long) (NS_PER_S * Values.number("--seconds", seconds, 0, MAX_SECONDS)));
  }

  private static long whole(String option, @Nullable String text) {
    return text == null ? 0 : Values.longInteger(option, text, 1, Long.MAX_VALUE);
  }
}
