package io.kvasir.cli.command;

import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.PageOption;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.terminal.CaseProgress;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.model.Errors;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.RouterComparison;
import io.kvasir.simulator.compare.RunStore;
import io.kvasir.simulator.compare.Setting;
import io.kvasir.simulator.report.CellJson;
import io.kvasir.simulator.report.CellPage;
import io.kvasir.simulator.report.CellTable;
import io.kvasir.simulator.report.ReportBasis;
import io.kvasir.simulator.report.RunJournal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kvasir bench policies}: routers under load, with intervals. */
@Command(
    name = "policies",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Compares ADP routers, fleet routers, or limits of local prefill, under load: plays requests at a speed at which ranks"
          + " would prefill for a given share of the time under round-robin, or under conversation"
          + " for sessions, or in closed loops; several times, with other arrivals. Latencies are"
          + " modelled, so they are the same on every machine.",
      ""
    },
    footer = {"", "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."})
final class BenchPoliciesCommand extends DeclaredOptions implements Callable<Integer> {

  private final Console console;

  @Spec private CommandSpec spec;

  private final Declared<Path> journal =
      path("--journal")
          .help(8, "Keeps finished replays in this file, and does not repeat those in it.");

  private final Declared<Double> saturatedMs =
      number("--saturated-ttft-ms", "10000", 1, 1e9)
          .label("MS")
          .help(
              7,
              "Where the p95 of the time to first token is above this under every"
                  + " router, compare the speeds up to which it is not");

  @Mixin private PolicyCases cases;
  @Mixin private ComparedPolicies compared;
  @Mixin private final ComparisonOptions comparisons = new ComparisonOptions("1,2,3,4,5");
  @Mixin private PageOption page;
  @Mixin private FormatOption format;

  BenchPoliciesCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    boolean text = format.isText();
    page.requireWritable();
    ComparedPolicies.Chosen policies = compared.chosen();
    List<Cell<PlayedLoad>> cells = new ArrayList<>();
    @Nullable UsageException impossible;
    ExecutorService pool = comparisons.newPool();
    try {
      impossible =
          play(policies, cases.settings(compared.roles(), compared.fleets()), pool, text, cells);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    } finally {
      pool.shutdownNow();
    }
    if (cells.isEmpty() && impossible != null) {
      throw impossible;
    }
    ReportBasis basis = Basis.of(spec, console);
    if (text) {
      console.print("\n" + CellTable.summary(cells, policies.names(), basis));
    } else {
      console.write(stream -> CellJson.write(cells, stream));
    }
    page.write(() -> CellPage.of(cells, policies.names(), basis));
    if (impossible != null) {
      throw impossible;
    }
    return ExitCode.DONE;
  }

  /** Plays all cases; returns why one could not be played, or null. The others are of use. */
  private @Nullable UsageException play(
      ComparedPolicies.Chosen policies,
      List<Setting> settings,
      ExecutorService pool,
      boolean text,
      List<Cell<PlayedLoad>> cells)
      throws IOException, InterruptedException, Console.OutputException {
    @Nullable UsageException impossible = null;
    List<Long> seeds = comparisons.seeds();
    int replays = 1 + policies.names().size() * seeds.size();
    double limitMs = saturatedMs.value();
    try (@Nullable RunJournal kept = journal.isGiven() ? openJournal(journal.value()) : null;
        CaseProgress progress = new CaseProgress(settings.size(), replays, console)) {
      RunStore store = counted(kept == null ? RunStore.NONE : kept, progress);
      RouterComparison comparison = new RouterComparison(seeds, pool, store, limitMs);
      if (text) {
        console.print(CellTable.head(policies.names()));
      }
      for (Setting setting : settings) {
        progress.begin(setting.load().toString());
        try {
          Cell<PlayedLoad> cell = compare(policies, comparison, setting);
          cells.add(cell);
          progress.erase();
          if (text) {
            console.print(CellTable.row(cell));
          }
        } catch (UsageException e) {
          impossible = impossible == null ? e : impossible;
        }
      }
    }
    return impossible;
  }

  /** A store that reports each replay. */
  private static RunStore counted(RunStore store, CaseProgress progress) {
    return (name, play) -> {
      List<Double> numbers = store.of(name, play);
      progress.replayed();
      return numbers;
    };
  }

  private static Cell<PlayedLoad> compare(
      ComparedPolicies.Chosen policies, RouterComparison comparison, Setting setting)
      throws InterruptedException {
    try {
      return policies.contest().compare(comparison, setting);
    } catch (IllegalArgumentException e) {
      throw new UsageException(PolicyCases.option(setting), Errors.reason(e));
    }
  }

  private RunJournal openJournal(Path name) throws IOException {
    Path file = name.toAbsolutePath();
    if (page.isFile(file)) {
      throw new UsageException("--journal", "must not be the file of --report");
    }
    BuildVersion build = BuildVersion.read();
    if (build.isChanged()) {
      console.note(name + ": does not notice further changes of a build with changes");
    }
    try {
      return RunJournal.open(file, build.toString());
    } catch (IOException e) {
      throw new UsageException("--journal", Errors.reason(e));
    }
  }
}
