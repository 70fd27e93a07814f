package io.kvasir.cli.command;

import io.kvasir.cli.option.LaunchOptions;
import io.kvasir.cli.option.ProcessOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.terminal.Console;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.Launch;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.ProcessGroup;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.model.Digest64;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.workload.Workload;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The processes of a replay: this one alone, processes that it starts, or those of a launcher. Each
 * replay is a new group of the processes.
 *
 * <p>Confined to one thread.
 */
final class ReplayProcesses implements AutoCloseable {

  private static final String WORKER = "replay";

  private final ProcessGroup processes;
  private final LaunchOptions options;

  private ReplayProcesses(ProcessGroup processes, LaunchOptions options) {
    this.processes = processes;
    this.options = options;
  }

  /**
   * Opens the processes.
   *
   * @param arguments the command line, for processes that this one starts
   */
  static ReplayProcesses open(
      ProcessOptions started,
      LaunchOptions launched,
      int ranks,
      List<String> arguments,
      Console console)
      throws IOException {
    Duration joinTimeout = started.joinTimeout();
    Optional<Launch> launch = launched.launch(console.environment());
    ProcessGroup group =
        launched.collective() == LaunchOptions.Collective.NONE
            ? started(started, launch, ranks, arguments, console)
            : launched.open(console, joinTimeout);
    if (group.size() > ranks) {
      group.close();
      throw new UsageException(
          LaunchOptions.COLLECTIVE,
          "must be of at most --ranks, " + ranks + ", processes, not " + group.size());
    }
    return new ReplayProcesses(group, launched);
  }

  private static ProcessGroup started(
      ProcessOptions options,
      Optional<Launch> launch,
      int ranks,
      List<String> arguments,
      Console console)
      throws IOException {
    int count = options.processes(ranks);
    if (count > 1) {
      return StartedProcesses.open(options, count, arguments, console.in());
    }
    if (launch.isPresent() && launch.get().size() > 1 && launch.get().rank() == 0) {
      console.note(
          launch.get().launcher()
              + " has started "
              + launch.get().size()
              + " processes, each of which replays alone; "
              + LaunchOptions.COLLECTIVE
              + " divides the ranks among them");
    }
    return new SoleProcess();
  }

  /** Whether this process writes the report. */
  boolean reports() {
    return processes.rank() == 0;
  }

  /** The index of this process among those of its node. */
  int localRank() {
    return processes.localRank();
  }

  /** Connects the processes for a replay. */
  RankCollective meet(ReplaySettings settings, Workload workload) throws IOException {
    long configuration = Digest64.fold(Digest64.EMPTY, settings.toString());
    configuration = Digest64.fold(configuration, workload.name());
    configuration = Digest64.fold(configuration, workload.parameters().toString());
    return processes.form(
        new GroupSettings(
            WORKER,
            BuildVersion.read().version().hashCode(),
            configuration,
            Member.evenly(processes.size(), settings.ranks()),
            options.timeout(),
            GroupSettings.DEFAULT_MAX_FRAME_BYTES,
            options.spin()));
  }

  @Override
  public void close() {
    processes.close();
  }
}
