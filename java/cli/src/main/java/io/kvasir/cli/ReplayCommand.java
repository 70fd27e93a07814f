package io.kvasir.cli;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.replay.ServeSettings;
import io.kvasir.simulator.report.JsonReport;
import io.kvasir.simulator.report.ReplayReport;
import io.kvasir.simulator.report.TextReport;
import io.kvasir.simulator.workload.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kvasir replay}: a workload through an instance in virtual time, once per router. */
@Command(
    name = "replay",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Replays a trace or a generated workload through an instance in virtual time and reports what"
          + " each router makes of it. Times are modelled; the path of a request is the real one.",
      ""
    },
    footer = {
      "",
      "Every option can also be given as a variable, KVASIR_POOL_TOKENS for --pool-tokens, and in the"
          + " file of --config, as pool_tokens.",
      "Exit codes: 0 done, 1 the work failed, 2 wrong usage, configuration or input."
    })
final class ReplayCommand implements Callable<Integer> {

  private final Console console;
  private final Machine machine;

  @Spec private CommandSpec spec;
  @Mixin private WorkloadOptions workload;
  @Mixin private GeneratedOptions generated;
  @Mixin private DeviceOption device;
  @Mixin private ServeOptions layer;
  @Mixin private InstanceOptions instance;
  @Mixin private KvOptions kv;
  @Mixin private ModeOptions mode;
  @Mixin private ProcessOptions processes;
  @Mixin private Settings sources;
  @Mixin private CommonOptions common;

  ReplayCommand(Console console, Machine machine) {
    this.console = console;
    this.machine = machine;
  }

  @Override
  public Integer call() throws Exception {
    CommonOptions.Format format = common.format();
    Optional<ServeSettings> serve = layer.settings();
    KvShape kvShape = kv.kv();
    ReplayMode ranksDo = mode.mode(kvShape, sources::isFlag);
    List<ReplaySettings> instances = new ArrayList<>();
    for (AdpRouterKind router : instance.routers()) {
      ReplaySettings each = instance.settings(router).withMode(ranksDo);
      instances.add(
          serve.map(over -> ServeOptions.named(each, over, sources::isFlag)).orElse(each));
    }
    List<ReplayReport> reports = new ArrayList<>();
    int ranks = instances.get(0).ranks();
    boolean spread = processes.processes(ranks) > 1;
    if (spread && serve.isPresent()) {
      throw new UsageException(
          ProcessOptions.PROCESSES,
          "must be 1 with " + ServeOptions.INSTANCES + " or " + ServeOptions.ROUTER);
    }
    try (OpenDevices devices =
        spread ? device.onlyHost(ProcessOptions.PROCESSES) : device.open(machine, console)) {
      WorkloadOptions.Plan plan = workload.plan(generated, sources, console);
      int count = serve.map(ServeSettings::instances).orElse(1);
      List<ReplaySettings> sized = sized(instances, count, devices, kvShape);
      try (ReplayProcesses all = ReplayProcesses.open(processes, ranks, arguments())) {
        for (ReplaySettings each : sized) {
          reports.add(replay(plan, each, serve, all, place(devices, kvShape)));
        }
        if (!all.reports()) {
          return ExitCode.DONE;
        }
      }
    } catch (DeviceOutOfMemoryException e) {
      throw new UsageException(kv.sizeOption(), "does not fit: " + e.getMessage());
    }
    switch (format) {
      case TEXT -> console.print(TextReport.of(reports));
      case JSON -> console.write(stream -> JsonReport.write(reports, stream));
    }
    return ExitCode.DONE;
  }

  private List<String> arguments() {
    return spec.root().commandLine().getParseResult().originalArgs();
  }

  private ReplayReport replay(
      WorkloadOptions.Plan plan,
      ReplaySettings settings,
      Optional<ServeSettings> serve,
      ReplayProcesses all,
      RankPools.Place place)
      throws IOException {
    try (RankCollective collective = all.meet(settings, plan.workload());
        ProgressBar progress = new ProgressBar(settings.router().id(), console)) {
      Workload asked = plan.workload();
      ReplayResult result =
          serve.isPresent()
              ? Replay.run(asked, settings, serve.get(), place, progress)
              : Replay.run(asked, settings, collective, place, progress);
      return new ReplayReport(asked, plan.seed(), plan.traceBlockUpperBound(), result);
    }
  }

  /** The instances as they were asked for, or with as many tokens as the devices' memory takes. */
  private List<ReplaySettings> sized(
      List<ReplaySettings> instances, int count, OpenDevices devices, KvShape kvShape) {
    if (devices.isEmpty()) {
      kv.requireNoFraction();
    }
    OptionalInt poolTokens = kv.poolTokens(kvShape, instances.get(0).tokensPerBlock());
    if (poolTokens.isPresent()) {
      return instances.stream()
          .map(settings -> settings.withPoolTokens(poolTokens.getAsInt()))
          .toList();
    }
    if (!kv.byFreeMemory()) {
      return instances;
    }
    double fraction = kv.freeMemoryFraction() / count;
    return instances.stream()
        .map(settings -> settings.sizedFor(devices.devices(), kvShape, fraction))
        .toList();
  }

  private static RankPools.Place place(OpenDevices devices, KvShape kvShape) {
    return devices.isEmpty()
        ? RankPools.Place.HOST
        : (ranks, shape) ->
            RankPools.onDevices(devices.devices(), ranks, shape, kvShape, devices.health());
  }
}
