package io.kvasir.cli.command;

import io.kvasir.cli.option.Choices;
import io.kvasir.cli.option.FleetOptions;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.PageOption;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.option.WorkerOptions;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.model.Errors;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.RouterComparison;
import io.kvasir.simulator.compare.RunStore;
import io.kvasir.simulator.compare.Setting;
import io.kvasir.simulator.report.CellJson;
import io.kvasir.simulator.report.CellPage;
import io.kvasir.simulator.report.CellTable;
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
import picocli.CommandLine.Option;

/** {@code kvasir bench policies}: routers under load, with intervals. */
@Command(
    name = "policies",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Compares ADP routers, or fleet routers, under load: plays requests at a speed at which ranks"
          + " would prefill for a given share of the time under round-robin, or under conversation"
          + " for sessions; several times, with other arrivals. Latencies are modelled, so they are"
          + " the same on every machine.",
      ""
    },
    footer = {"", "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."})
final class BenchPoliciesCommand implements Callable<Integer> {

  private final Console console;

  @Option(
      names = "--router",
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.AdpRouters.class,
      order = 4,
      description =
          "ADP routers to compare (default: default,kv_cache_aware,conversation,projected).")
  private @Nullable String routers;

  @Option(
      names = FleetOptions.ROUTER,
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.FleetRouters.class,
      order = 4,
      description =
          "Fleet routers to compare instead, over RANKS workers of one rank: any of"
              + " ${COMPLETION-CANDIDATES}.")
  private @Nullable String fleetRouters;

  @Option(
      names = "--journal",
      paramLabel = "FILE",
      order = 8,
      description = "Keeps finished replays in this file, and does not repeat those in it.")
  private @Nullable String journal;

  @Option(
      names = "--saturated-ttft-ms",
      paramLabel = "MS",
      order = 7,
      description =
          "Where the p95 of the time to first token is above this under every router, compare the"
              + " speeds up to which it is not (default: ${DEFAULT-VALUE}).")
  private String saturatedMs = "10000";

  @Mixin private PolicyCases cases;
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
    if (routers != null && fleetRouters != null) {
      throw new UsageException(FleetOptions.ROUTER, "and --router exclude each other");
    }
    List<AdpRouterKind> kinds =
        routers == null ? List.of(AdpRouterKind.values()) : WorkerOptions.routers(routers);
    List<String> names =
        fleetRouters == null
            ? kinds.stream().map(AdpRouterKind::id).toList()
            : Values.list(
                FleetOptions.ROUTER, fleetRouters, name -> FleetOptions.router(name).name());
    double limitMs = Values.number("--saturated-ttft-ms", saturatedMs, 1, 1e9);
    List<Setting> settings = cases.settings();
    List<Long> seeds = comparisons.seeds();
    List<Cell<PlayedLoad>> cells = new ArrayList<>();
    @Nullable UsageException impossible = null;
    ExecutorService pool = comparisons.newPool();
    try (@Nullable RunJournal kept = journal == null ? null : openJournal(journal)) {
      RunStore store = kept == null ? RunStore.NONE : kept;
      RouterComparison comparison = new RouterComparison(seeds, pool, store, limitMs);
      if (text) {
        console.print(CellTable.head(names));
      }
      for (Setting setting : settings) {
        try {
          Cell<PlayedLoad> cell = compare(comparison, setting, kinds, names);
          cells.add(cell);
          if (text) {
            console.print(CellTable.row(cell));
          }
        } catch (UsageException e) { // the other cases are of use
          impossible = impossible == null ? e : impossible;
        }
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    } finally {
      pool.shutdownNow();
    }
    if (cells.isEmpty() && impossible != null) {
      throw impossible;
    }
    if (text) {
      console.print("\n" + CellTable.summary(cells, names));
    } else {
      console.write(stream -> CellJson.write(cells, stream));
    }
    page.write(() -> CellPage.of(cells, names));
    if (impossible != null) {
      throw impossible;
    }
    return ExitCode.DONE;
  }

  private Cell<PlayedLoad> compare(
      RouterComparison comparison, Setting setting, List<AdpRouterKind> kinds, List<String> names)
      throws InterruptedException {
    try {
      return fleetRouters == null
          ? comparison.compare(setting, kinds)
          : comparison.compareFleets(setting, names);
    } catch (IllegalArgumentException e) {
      throw new UsageException(PolicyCases.option(setting), Errors.reason(e));
    }
  }

  private RunJournal openJournal(String name) throws IOException {
    Path file = Values.path("--journal", name).toAbsolutePath();
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
