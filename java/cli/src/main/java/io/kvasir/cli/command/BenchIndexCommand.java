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
import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.CorpusOptions;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir bench index}: prefix indexes on the events of our own pools. */
@Command(
    name = "index",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Measures prefix indexes: plays a trace into a pool for each worker, freezes queries and block"
          + " events to a file, and replays that on one thread and against deadlines. Block"
          + " operations are the blocks of queries, stored and removed events.",
      ""
    })
final class BenchIndexCommand implements Callable<Integer> {

  private static final int MOST_WINDOW_MS = 3_600_000;
  private static final int MOST_RUNS = 100;
  private static final int MOST_MEMBERSHIPS = 1 << 28;
  private static final long MOST_SOAK = 1_000_000_000_000L;
  private static final long NS_PER_MS = 1_000_000;

  private final Console console;

  @Mixin private CorpusOptions corpus;

  @Option(
      names = "--runs",
      paramLabel = "N",
      defaultValue = "3",
      order = 9,
      description =
          "How often each index replays it on one thread; the median counts (default:"
              + " ${DEFAULT-VALUE}).")
  private String runs;

  @Option(
      names = "--window-ms",
      paramLabel = "N[,N]",
      defaultValue = "12000,1000",
      order = 10,
      description =
          "Time into which the trace is pressed when it is replayed against deadlines (default:"
              + " ${DEFAULT-VALUE}).")
  private String windowMs;

  @Option(
      names = "--memberships",
      paramLabel = "N",
      defaultValue = "1048576",
      order = 11,
      description =
          "Pairs of a rank and a block from which, up to twice as many, memory is measured (default:"
              + " ${DEFAULT-VALUE}).")
  private String memberships;

  @Option(
      names = "--soak",
      paramLabel = "EVENTS",
      order = 12,
      description =
          "Instead, let workers come and go for so many stored and removed blocks, without a trace;"
              + " every answer and total is compared with what must come out.")
  private String soak;

  @Mixin private CommonOptions common;

  BenchIndexCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    boolean text = common.format() == CommonOptions.Format.TEXT;
    return soak == null ? measure(text) : soak(text);
  }

  private int measure(boolean text) throws Exception {
    List<Long> windowsNs = windowsNs();
    int allRuns = Values.integer("--runs", runs, 1, MOST_RUNS);
    int sizes = Values.integer("--memberships", memberships, 1, MOST_MEMBERSHIPS);
    Corpus loaded = corpus.load(console);
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
      console.note("the indexes answered differently");
      return ExitCode.FAILED;
    }
    return ExitCode.DONE;
  }

  private int soak(boolean text) throws Console.OutputException {
    long events = Values.longInteger("--soak", soak, 1, MOST_SOAK);
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

  private List<Long> windowsNs() {
    List<Long> windows = new ArrayList<>();
    for (String part : windowMs.split(",", -1)) {
      windows.add(NS_PER_MS * Values.integer("--window-ms", part, 1, MOST_WINDOW_MS));
    }
    return windows;
  }
}
