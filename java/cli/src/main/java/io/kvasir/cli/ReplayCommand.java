package io.kvasir.cli;

import io.kvasir.route.AdpRouterKind;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.report.JsonReport;
import io.kvasir.simulator.report.ReplayReport;
import io.kvasir.simulator.report.TextReport;
import java.util.ArrayList;
import java.util.List;
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
      "Every option can also be given as a variable: KVASIR_POOL_TOKENS for --pool-tokens.",
      "Exit codes: 0 done, 1 the work failed, 2 wrong usage, configuration or input."
    })
final class ReplayCommand implements Callable<Integer> {

  private final Console console;
  private final Machine machine;

  @Spec private CommandSpec spec;
  @Mixin private WorkloadOptions workload;
  @Mixin private GeneratedOptions generated;
  @Mixin private DeviceOption device;
  @Mixin private InstanceOptions instance;
  @Mixin private CommonOptions common;

  ReplayCommand(Console console, Machine machine) {
    this.console = console;
    this.machine = machine;
  }

  @Override
  public Integer call() throws Exception {
    CommonOptions.Format format = common.format();
    List<ReplaySettings> instances = new ArrayList<>();
    for (AdpRouterKind router : instance.routers()) {
      instances.add(instance.settings(router));
    }
    device.resolve(machine, console);
    WorkloadOptions.Plan plan =
        workload.plan(generated, spec.commandLine().getParseResult()::hasMatchedOption, console);
    List<ReplayReport> reports = new ArrayList<>();
    for (ReplaySettings settings : instances) {
      try (ProgressBar progress = new ProgressBar(settings.router().id(), console)) {
        reports.add(
            new ReplayReport(
                plan.workload(),
                plan.seed(),
                plan.traceBlockUpperBound(),
                Replay.run(plan.workload(), settings, progress)));
      }
    }
    switch (format) {
      case TEXT -> console.print(TextReport.of(reports));
      case JSON -> console.write(stream -> JsonReport.write(reports, stream));
    }
    return ExitCode.DONE;
  }
}
