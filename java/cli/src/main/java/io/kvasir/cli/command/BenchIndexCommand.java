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
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kvasir bench index}: prefix indexes on the events of Kvasir's own pools. */
@Command(
    name = "index",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Measures prefix indexes: plays a trace into a pool for each worker, keeps the queries and"
          + " block events, and replays them on one thread and against deadlines."
          + " Block operations are the blocks of queries, stored events and removed events.",
      ""
    },
    footer = {"", "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."})
final class BenchIndexCommand extends DeclaredOptions implements Callable<Integer> {

  private static final int MAX_WINDOW_MS = 3_600_000;
  private static final int MAX_RUNS = 100;
  private static final int MAX_MEMBERSHIPS = 1 << 28;
  private static final long MAX_SOAK = 1_000_000_000_000L;
  private static final long NS_PER_MS = 1_000_000;

  private final Console console;

  @Mixin private CorpusOptions corpus;

  private final Declared<Integer> runs =
      integer("--runs", "3", 1, MAX_RUNS)
          .help(9, "Replays of an index on one thread; the median is reported");

  private final Declared<String> windowMs =
      text("--window-ms", "N[,N]", "12000,1000")
          .help(10, "Length of the trace in replays against deadlines");

  private final Declared<Integer> memberships =
      integer("--memberships", "1048576", 1, MAX_MEMBERSHIPS)
          .help(11, "Pairs of a rank and a block for the measurement of memory");

  private final Declared<Long> soak =
      option("--soak", "EVENTS", null, text -> Values.longInteger("--soak", text, 1, MAX_SOAK))
          .help(
              12,
              "Run a soak test instead: workers join and leave for this many stored"
                  + " and removed blocks, without a trace; all answers and totals are"
                  + " compared with the expected ones.");

  @Mixin private FormatOption format;

  BenchIndexCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    boolean text = format.isText();
    return !soak.isGiven() ? measure(text) : soak(soak.value(), text);
  }

  private int measure(boolean text) throws Exception {
    List<Long> windowsNs =
        Arrays.stream(windowMs.value().split(",", -1))
            .map(part -> NS_PER_MS * Values.integer("--window-ms", part, 1, MAX_WINDOW_MS))
            .toList();
    int allRuns = runs.value();
    int sizes = memberships.value();
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

  private int soak(long events, boolean text) throws Console.OutputException {
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
