package io.kvasir.cli.command;

import io.kvasir.cli.option.ApartOptions;
import io.kvasir.cli.option.DeviceOption;
import io.kvasir.cli.option.EngineOptions;
import io.kvasir.cli.option.FleetOptions;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.GeneratedOptions;
import io.kvasir.cli.option.KvOptions;
import io.kvasir.cli.option.LaunchOptions;
import io.kvasir.cli.option.ModeOptions;
import io.kvasir.cli.option.OpenDevices;
import io.kvasir.cli.option.ProcessOptions;
import io.kvasir.cli.option.ReportOptions;
import io.kvasir.cli.option.Settings;
import io.kvasir.cli.option.SightOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.WorkerOptions;
import io.kvasir.cli.option.WorkloadOptions;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.cli.terminal.ProgressBar;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.model.NativeMemoryError;
import io.kvasir.simulator.fleet.ApartSettings;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.Measures;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.report.HtmlReport;
import io.kvasir.simulator.report.JsonReport;
import io.kvasir.simulator.report.ReplayReport;
import io.kvasir.simulator.report.TextReport;
import io.kvasir.simulator.workload.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kvasir replay}: replays a workload in virtual time, once for each router. */
@Command(
    name = "replay",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Replays a trace or a generated workload on a worker or a fleet of workers, in virtual time,"
          + " and reports the results of each router. Latencies are modelled; everything that makes"
          + " a decision is production code.",
      ""
    },
    footer = {
      "",
      "Every option can also be set by a variable, KVASIR_POOL_TOKENS for --pool-tokens, and in the"
          + " file of --config, as pool_tokens.",
      "Exit codes: 0 done, 1 the work failed, 2 wrong usage, configuration or input."
    })
public final class ReplayCommand implements Callable<Integer> {

  /** A replay to run. */
  private record Run(
      ReplaySettings worker, @Nullable FleetSettings fleet, @Nullable ApartSettings apart) {

    int workers() {
      if (apart != null) {
        return apart.prefill().workers() + apart.decode().workers();
      }
      return fleet == null ? 1 : fleet.workers();
    }

    boolean hasFleet() {
      return fleet != null || apart != null;
    }

    boolean ofOneWorker() {
      return fleet != null && fleet.workers() == 1;
    }

    /** The routers, for people. */
    String name() {
      String router = worker.routing().router().id();
      if (apart != null) {
        return apart.routers() + "/" + router;
      }
      return fleet == null ? router : fleet.router().name() + "/" + router;
    }
  }

  /** A rank that more requests wait for does not keep up. */
  private static final int QUEUED_PER_RANK = 256;

  private static final String SMALLER_POOLS =
      "fewer --pool-tokens or --ranks, or larger --tokens-per-block, need less";

  private final Console console;
  private final Machine machine;

  @Spec private CommandSpec spec;
  @Mixin private WorkloadOptions workload;
  @Mixin private GeneratedOptions generated;
  @Mixin private DeviceOption device;
  @Mixin private FleetOptions layer;
  @Mixin private ApartOptions roles;
  @Mixin private WorkerOptions worker;
  @Mixin private EngineOptions engines;
  @Mixin private SightOptions sight;
  @Mixin private KvOptions kv;
  @Mixin private ModeOptions mode;
  @Mixin private ProcessOptions processes;
  @Mixin private LaunchOptions launch;
  @Mixin private ReportOptions report;
  @Mixin private Settings sources;
  @Mixin private FormatOption format;

  /**
   * Makes the command.
   *
   * @param console input, output and environment
   * @param machine the machine whose devices hold pools
   */
  public ReplayCommand(Console console, Machine machine) {
    this.console = console;
    this.machine = machine;
  }

  @Override
  public Integer call() throws Exception {
    boolean text = format.isText();
    KvShape kvShape = kv.kv();
    List<Run> runs = runs(kvShape);
    List<ReplayReport> reports = new ArrayList<>();
    int ranks = runs.get(0).worker().ranks();
    boolean spread = processes.processes(ranks) > 1;
    launch.check();
    boolean launched = launch.collective() != LaunchOptions.Collective.NONE;
    checkProcesses(spread, launched, runs.get(0).hasFleet());
    if (runs.get(0).ofOneWorker() && (ranks == 1 || !chooseRanks(runs))) {
      console.note(
          "one worker: fleet routers make no difference; add " + FleetOptions.WORKERS + " N");
    }
    List<String> arguments = spec.root().commandLine().getParseResult().originalArgs();
    try (ReplayProcesses all = ReplayProcesses.open(processes, launch, ranks, arguments, console);
        OpenDevices devices = open(all, spread, launched)) {
      WorkloadOptions.Plan plan = plan();
      int count = runs.get(0).workers();
      for (Run run : runs) {
        ReplaySettings sized = sized(engines.of(run.worker(), count), count, devices, kvShape);
        reports.add(replay(plan, sized, run, all, devices.place(kvShape)));
      }
      if (!all.reports()) {
        return ExitCode.DONE;
      }
    } catch (DeviceOutOfMemoryException e) {
      throw new UsageException(kv.sizeOption(), "does not fit: " + e.getMessage());
    }
    if (text) {
      console.print(TextReport.of(reports));
    } else {
      console.write(stream -> JsonReport.write(reports, stream));
    }
    report.write(() -> HtmlReport.of(reports));
    return ExitCode.DONE;
  }

  private void checkProcesses(boolean spread, boolean launched, boolean hasFleets) {
    if ((spread || launched) && hasFleets) {
      throw new UsageException(
          spread ? ProcessOptions.PROCESSES : LaunchOptions.COLLECTIVE,
          (spread ? "must be 1" : "must be none")
              + " with "
              + (roles.isGiven()
                  ? ApartOptions.PREFILL_WORKERS
                  : FleetOptions.WORKERS + " or " + FleetOptions.ROUTER));
    }
    if (spread && launched) {
      throw new UsageException(
          ProcessOptions.PROCESSES, "must be 1 with " + LaunchOptions.COLLECTIVE);
    }
  }

  private static boolean chooseRanks(List<Run> runs) {
    return runs.stream()
        .anyMatch(run -> run.fleet() != null && run.fleet().router().choosesRanks());
  }

  /** The replays, one for each fleet router and each ADP router of interest under it. */
  private List<Run> runs(KvShape kvShape) {
    List<ApartSettings> aparts = roles.settings(layer, sources::isFlag);
    List<FleetSettings> fleets = roles.isGiven() ? List.of() : layer.settings(sources::isFlag);
    Measures measures = report.measures();
    ReplayMode replayMode =
        roles.isGiven()
            ? mode.apart(kvShape, sources::isFlag)
            : mode.mode(kvShape, sources::isFlag);
    List<Run> runs = new ArrayList<>();
    for (AdpRouterKind router : worker.routers()) {
      ReplaySettings each =
          worker
              .settings(router)
              .withMode(replayMode)
              .withMeasures(measures)
              .withSight(sight.sight(fleets));
      boolean first = router == worker.routers().get(0);
      if (fleets.isEmpty() && aparts.isEmpty()) {
        runs.add(new Run(each, null, null));
      }
      for (FleetSettings fleet : fleets) {
        if (first || comparesAdpRouters(each, fleet)) {
          runs.add(new Run(FleetOptions.worker(each, fleet, sources::isFlag), fleet, null));
        }
      }
      for (ApartSettings apart : aparts) {
        if (first || worker.namesRouters()) {
          runs.add(new Run(roles.worker(each, apart, sources::isFlag), null, apart));
        }
      }
    }
    return runs;
  }

  /**
   * Whether each ADP router is of interest under a fleet router: those that the user names are, and
   * otherwise those of several workers of several ranks that the fleet router does not choose.
   */
  private boolean comparesAdpRouters(ReplaySettings each, FleetSettings fleet) {
    return worker.namesRouters()
        || (each.ranks() > 1 && fleet.workers() > 1 && !fleet.router().choosesRanks());
  }

  private OpenDevices open(ReplayProcesses all, boolean spread, boolean launched) {
    if (spread) {
      return device.onlyHost(ProcessOptions.PROCESSES);
    }
    return launched
        ? device.openLocal(all.localRank(), machine, console)
        : device.open(machine, console);
  }

  private ReplayReport replay(
      WorkloadOptions.Plan plan,
      ReplaySettings settings,
      Run run,
      ReplayProcesses all,
      RankPools.Place place)
      throws IOException {
    FleetSettings fleet = run.fleet();
    ApartSettings apart = run.apart();
    ProgressBar progress = new ProgressBar(run.name(), console);
    try (RankCollective collective = all.meet(settings, plan.workload());
        progress) {
      Workload requests = plan.workload();
      ReplayResult result;
      if (apart != null) {
        result = Replay.run(requests, settings, apart, place, progress);
      } else if (fleet != null) {
        result = Replay.run(requests, settings, fleet, place, progress);
      } else {
        result = Replay.run(requests, settings, collective, place, progress);
      }
      return new ReplayReport(
          requests, plan.seed(), plan.traceBlockUpperBound(), Basis.of(spec, console), result);
    } catch (NativeMemoryError e) {
      NativeMemoryError named =
          new NativeMemoryError(e.getMessage() + "; every rank has such a pool: " + SMALLER_POOLS);
      named.initCause(e);
      throw named;
    } catch (OutOfMemoryError e) {
      throw outOfMemory(e, memory(progress, settings));
    }
  }

  private WorkloadOptions.Plan plan() throws IOException {
    try {
      return workload.plan(generated, sources, console);
    } catch (OutOfMemoryError e) {
      throw outOfMemory(e, " while the requests are read; all of them are kept");
    }
  }

  private static OutOfMemoryError outOfMemory(OutOfMemoryError cause, String where) {
    OutOfMemoryError named = new OutOfMemoryError(cause.getMessage() + where);
    named.initCause(cause);
    return named;
  }

  /** What uses memory in a replay, and how it needs less. */
  private static String memory(ProgressBar progress, ReplaySettings settings) {
    boolean queues = progress.inFlight() > settings.ranks() * (long) QUEUED_PER_RANK;
    return String.format(
        Locale.ROOT,
        " after %,d requests, with %,d in flight; %s",
        progress.settled(),
        progress.inFlight(),
        queues
            ? "requests arrive faster than they are answered: a lower --speed or --rate, or more"
                + " --ranks, keeps fewer in flight"
            : "pools take most of it: " + SMALLER_POOLS);
  }

  /** A worker, with pools of the size that the options of {@link KvOptions} set. */
  private ReplaySettings sized(
      ReplaySettings worker, int count, OpenDevices devices, KvShape kvShape) {
    if (devices.isEmpty()) {
      kv.requireNoFraction();
    }
    OptionalInt poolTokens = kv.poolTokens(kvShape, worker.pool().tokensPerBlock());
    if (poolTokens.isPresent()) {
      return worker.withPoolTokens(poolTokens.getAsInt());
    }
    return kv.byFreeMemory()
        ? worker.sizedFor(devices.devices(), kvShape, kv.freeMemoryFraction() / count)
        : worker;
  }
}
