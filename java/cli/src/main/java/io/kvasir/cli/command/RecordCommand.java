package io.kvasir.cli.command;

import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.fleet.record.EventRecorder;
import io.kvasir.fleet.record.RecorderOptions;
import io.kvasir.fleet.record.RecordingReader;
import io.kvasir.fleet.record.RecordingReplay;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kvasir record}: JSON lines to a recording, and back in their old rhythm. */
@Command(
    name = "record",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Records the JSON objects of standard input, one a line, with the times at which they came;"
          + " or, with --replay, prints a recording's again in the same rhythm, so that 'kvasir"
          + " record --replay FILE | kvasir index' works.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 done, 1 reading or writing failed, 2 wrong usage, or a line was no JSON object"
          + " (it is not recorded)."
    })
final class RecordCommand implements Callable<Integer> {

  private static final double NS_PER_S = 1e9;
  private static final double MOST_SECONDS = 1e9;
  private static final double MOST_SPEED = 1e9;
  private static final int MOST_FLUSH_MS = 3_600_000;

  private final Console console;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      order = 1,
      description = "Where to record to. Replaced if it exists.")
  private String output;

  @Option(
      names = "--append",
      order = 2,
      description = "Go on with a recording that exists; a torn last line of it is cut off.")
  private boolean append;

  @Option(
      names = "--rotate-lines",
      paramLabel = "N",
      order = 3,
      description = "Begin another file, FILE-1, FILE-2 and so on, after so many lines.")
  private String rotateLines;

  @Option(
      names = "--flush-ms",
      paramLabel = "N",
      defaultValue = "1000",
      order = 4,
      description =
          "Longest time that a line waits to be written; 0 for until 32 KiB are full (default:"
              + " ${DEFAULT-VALUE}).")
  private String flushMs;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      order = 5,
      description = "Print this recording, and the files that it was rotated to.")
  private String replay;

  @Option(
      names = "--speed",
      paramLabel = "X",
      defaultValue = "1",
      order = 6,
      description = "Times the recorded speed (default: ${DEFAULT-VALUE}).")
  private String speed;

  @Option(names = "--as-fast-as-possible", order = 7, description = "Replay without waiting.")
  private boolean asFastAsPossible;

  @Option(
      names = "--count",
      paramLabel = "N",
      order = 8,
      description = "End after so many events, recorded or printed.")
  private String count;

  @Option(names = "--seconds", paramLabel = "X", order = 9, description = "End after this time.")
  private String seconds;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      order = 102,
      description = "Show this help.")
  @SuppressWarnings("unused") // picocli acts on it
  private boolean help;

  @Option(names = "--verbose", order = 101, description = "Log more, and show where errors occur.")
  @SuppressWarnings("unused") // read before parsing, so that parsing is covered too
  private boolean verbose;

  RecordCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    if ((output == null) == (replay == null)) {
      throw new UsageException("--output", "or --replay must be given, and not both");
    }
    return replay == null ? record() : replay();
  }

  private int record() throws IOException, InterruptedException {
    RecorderOptions options =
        new RecorderOptions(
            RecorderOptions.DEFAULT.queueEvents(),
            whole("--rotate-lines", rotateLines),
            TimeUnit.MILLISECONDS.toNanos(Values.integer("--flush-ms", flushMs, 0, MOST_FLUSH_MS)),
            whole("--count", count),
            maxNs(),
            append);
    EventRecorder recorder = EventRecorder.open(path("--output", output), options);
    LinesIntoRecorder lines = new LinesIntoRecorder(console, recorder);
    try (recorder) {
      if (recorder.cutBytes() > 0) {
        console.note(output + ": cut a torn last line of " + recorder.cutBytes() + " bytes");
      }
      lines.run(options.maxNs());
    }
    console.note(output + ": " + recorder.stats().written() + " events recorded");
    return lines.invalid() == 0 ? ExitCode.DONE : ExitCode.USAGE;
  }

  private int replay() throws IOException, InterruptedException, Console.OutputException {
    double times =
        asFastAsPossible
            ? Double.POSITIVE_INFINITY
            : Values.number("--speed", speed, Double.MIN_VALUE, MOST_SPEED);
    RecordingReplay.Options options =
        new RecordingReplay.Options(times, whole("--count", count), maxNs());
    try (RecordingReader reader = RecordingReader.open(path("--replay", replay))) {
      long sent =
          RecordingReplay.run(
              reader, options, RecordingReplay.Clock.SYSTEM, event -> print(event.json()));
      console.write(stream -> {}); // what is left in its buffer
      console.note(
          replay
              + ": "
              + sent
              + " events printed"
              + (reader.tornLines() > 0 ? ", torn lines passed over: " + reader.tornLines() : ""));
    }
    return ExitCode.DONE;
  }

  /** Whoever reads a line of a timed replay wants it now. */
  private void print(String event) throws IOException {
    try {
      console.out().write((event + "\n").getBytes(StandardCharsets.UTF_8));
      if (!asFastAsPossible) {
        console.out().flush();
      }
    } catch (IOException e) {
      throw new IOException("cannot write to standard output: " + e.getMessage(), e);
    }
  }

  private long maxNs() {
    return seconds == null
        ? 0
        : Math.max(1, (long) (NS_PER_S * Values.number("--seconds", seconds, 0, MOST_SECONDS)));
  }

  private static long whole(String option, String text) {
    return text == null ? 0 : Values.longInteger(option, text, 1, Long.MAX_VALUE);
  }

  private static Path path(String option, String file) {
    try {
      return Path.of(file);
    } catch (InvalidPathException e) {
      throw new UsageException(option, "must be a path, not '" + file + "'");
    }
  }
}
