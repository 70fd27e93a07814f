package io.kvasir.cli.command;

import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
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
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
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
final class RecordCommand extends DeclaredOptions implements Callable<Integer> {

  private static final double NS_PER_S = 1e9;
  private static final double MAX_SECONDS = 1e9;
  private static final double MAX_SPEED = 1e9;
  private static final int MAX_FLUSH_MS = 3_600_000;

  private final Console console;

  private final Declared<Path> output =
      path("--output").help(1, "File to record to. It is replaced if it exists.");

  @Option(
      names = "--append",
      order = 2,
      description = "Continue the recording in the file. A torn last line is removed.")
  private boolean append;

  private final Declared<Long> rotateLines =
      whole("--rotate-lines")
          .help(3, "Start another file, FILE-1, FILE-2 and so on, after this many lines.");

  private final Declared<Integer> flushMs =
      integer("--flush-ms", "1000", 0, MAX_FLUSH_MS)
          .help(4, "Longest time before a line is written; 0 waits for 32 KiB");

  private final Declared<Path> replay =
      path("--replay").help(5, "Recording to print, with the files that --rotate-lines added.");

  private final Declared<Double> speed =
      number("--speed", "1", Double.MIN_VALUE, MAX_SPEED).help(6, "Multiple of the recorded speed");

  @Option(names = "--as-fast-as-possible", order = 7, description = "Replay without waiting.")
  private boolean asFastAsPossible;

  private final Declared<Path> repair =
      path("--repair")
          .help(
              8,
              "Recording to reduce to its whole lines, with the files that"
                  + " --rotate-lines added. A damaged file is kept as FILE.damaged.");

  private final Declared<Long> count =
      whole("--count").help(9, "Number of events to record or print (default: all).");

  private final Declared<Double> seconds =
      number("--seconds", null, 0, MAX_SECONDS)
          .help(10, "Time after which to stop (default: none).");

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private CommonOptions common;

  RecordCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    if (Stream.of(output, replay, repair).filter(Declared::isGiven).count() != 1) {
      throw new UsageException(
          "--output", "or --replay or --repair must be given, and only one of them");
    }
    if (output.isGiven()) {
      return record(output.value());
    }
    return replay.isGiven() ? replay(replay.value()) : repair(repair.value());
  }

  private int record(Path file) throws IOException, InterruptedException {
    RecorderOptions options =
        new RecorderOptions(
            RecorderOptions.DEFAULT.queueEvents(),
            rotateLines.orElse(0L),
            TimeUnit.MILLISECONDS.toNanos(flushMs.value()),
            count.orElse(0L),
            maxNs(),
            0,
            append);
    EventRecorder recorder = EventRecorder.open(file, options);
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

  private int replay(Path file) throws IOException, InterruptedException, Console.OutputException {
    double times = asFastAsPossible ? Double.POSITIVE_INFINITY : speed.value();
    RecordingReplay.Options options = new RecordingReplay.Options(times, count.orElse(0L), maxNs());
    try (RecordingReader reader = RecordingReader.open(file)) {
      long sent =
          RecordingReplay.run(
              reader, options, RecordingReplay.Clock.SYSTEM, event -> print(event.json()));
      console.write(stream -> {}); // flushes the buffer
      String torn = reader.tornLines() > 0 ? ", torn lines skipped: " + reader.tornLines() : "";
      console.note(file + ": " + sent + " events printed" + torn);
    }
    return ExitCode.DONE;
  }

  private int repair(Path file) throws IOException {
    RecordingRepair.Result result = RecordingRepair.run(file);
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
    return !seconds.isGiven() ? 0 : Math.max(1, (long) (NS_PER_S * seconds.value()));
  }

  private Declaration<Long> whole(String name) {
    return option(name, "N", null, text -> Values.longInteger(name, text, 1, Long.MAX_VALUE));
  }
}
