package io.kvasir.cli.command;

import io.kvasir.benchmarks.index.Corpus;
import io.kvasir.benchmarks.index.IndexBenchJson;
import io.kvasir.benchmarks.index.IndexBenchText;
import io.kvasir.benchmarks.index.IndexFigures;
import io.kvasir.benchmarks.index.IndexKind;
import io.kvasir.benchmarks.index.IndexMeasurement;
import io.kvasir.benchmarks.index.IndexSoak;
import io.kvasir.benchmarks.index.SoakFigures;
import io.kvasir.benchmarks.index.SoakReport;
import io.kvasir.cli.option.CorpusOptions;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir bench index}: prefix indexes on the events of Kvasir's own pools. */
@Command(
    name = "index",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Measures prefix indexes: plays a trace into a pool for each worker, saves the queries and"
          + " block events to a file, and replays the file on one thread and against deadlines."
          + " Block operations are the blocks of queries, stored events and removed events.",
      ""
    },
    footer = {"", "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."})
final class BenchIndexCommand implements Callable<Integer> {

  private static final int MAX_WINDOW_MS = 3_600_000;
  private static final int MAX_RUNS = 100;
  private static final int MAX_MEMBERSHIPS = 1 << 28;
  private static final long MAX_SOAK = 1_000_000_000_000L;
  private static final long NS_PER_MS = 1_000_000;

  private final Console console;

  @Mixin private CorpusOptions corpus;

  @Option(
      names = "--runs",
      paramLabel = "N",
      defaultValue = "3",
      order = 9,
      description =
          "Replays of an index on one thread; the median is reported (default: ${DEFAULT-VALUE}).")
  private String runs;

  @Option(
      names = "--window-ms",
      paramLabel = "N[,N]",
      defaultValue = "12000,1000",
      order = 10,
      description = "Length of the trace in replays against deadlines (default: ${DEFAULT-VALUE}).")
  private String windowMs;

  @Option(
      names = "--memberships",
      paramLabel = "N",
      defaultValue = "1048576",
      order = 11,
      description =
          "Pairs of a rank and a block for the measurement of memory (default: ${DEFAULT-VALUE}).")
  private String memberships;

  @Option(
      names = "--soak",
      paramLabel = "EVENTS",
      order = 12,
      description =
          "Run a soak test instead: workers join and leave for this many stored and removed blocks,"
              + " without a trace; all answers and totals are compared with the expected ones.")
  private @Nullable String soak;

  @Mixin private FormatOption format;

  BenchIndexCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    boolean text = format.isText();
    return soak == null ? measure(text) : soak(soak, text);
  }

  private int measure(boolean text) throws Exception {
    List<Long> windowsNs =
        Arrays.stream(windowMs.split(",", -1))
            .map(part -> NS_PER_MS * Values.integer("--window-ms", part, 1, MAX_WINDOW_MS))
            .toList();
    int allRuns = Values.integer("--runs", runs, 1, MAX_RUNS);
    int sizes = Values.integer("--memberships", memberships, 1, MAX_MEMBERSHIPS);
    Corpus loaded = corpus.generate(console);
    IndexMeasurement measurement = new IndexMeasurement(loaded, allRuns, windowsNs, sizes);
    if (text) {
      console.print(IndexBenchText.corpus(loaded));
    }
    List<IndexFigures> all = new ArrayList<>();
    for (IndexKind kind : IndexKind.values()) {
      console.note("measuring " + kind.id());
      all.add(measurement.measure(kind));
    }
    if (text) {
      console.print(IndexBenchText.table(all));
    } else {
      console.write(stream -> IndexBenchJson.write(loaded, all, stream));
    }
    if (all.stream().anyMatch(figures -> figures.answers() != all.get(0).answers())) {
      console.note("the indexes gave different answers");
      return ExitCode.FAILED;
    }
    return ExitCode.DONE;
  }

  private int soak(String blockEvents, boolean text) throws Console.OutputException {
    long events = Values.longInteger("--soak", blockEvents, 1, MAX_SOAK);
    List<SoakFigures> all = new ArrayList<>();
    for (IndexKind kind : IndexKind.values()) {
      console.note("soaking " + kind.id());
      try {
        all.add(new IndexSoak(corpus.seed(), events).run(kind));
      } catch (IllegalStateException e) {
        console.note(kind.id() + ": " + e.getMessage());
        return ExitCode.FAILED;
      }
    }
    if (text) {
      console.print(SoakReport.text(all));
    } else {
      console.write(stream -> SoakReport.json(all, stream));
    }
    return all.stream().allMatch(SoakFigures::isFlat) ? ExitCode.DONE : ExitCode.FAILED;
  }
}
