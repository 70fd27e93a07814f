package io.kvasir.cli.command;

import io.kvasir.benchmarks.collective.CollectiveBench;
import io.kvasir.benchmarks.collective.GatherTimes;
import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.LaunchOptions;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.ProcessGroup;
import io.kvasir.engine.lockstep.RankCollective;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kvasir bench collective}: the cost of a gather among processes. */
@Command(
    name = "collective",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Measures gathers among processes. With --collective, these are the processes of a launcher,"
          + " and process 0 prints median and 99th percentile in nanoseconds. Without, starts"
          + " processes on this machine for every network in turn: TCP, each MPI library that is"
          + " installed, and a C program that does the same with it.",
      ""
    },
    footer = {"", "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."})
final class BenchCollectiveCommand extends DeclaredOptions implements Callable<Integer> {

  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_GATHERS = 10_000_000;
  private static final int MAX_ROUNDS = 100;
  private static final int MAX_PROCESSES = 256;
  private static final Duration JOIN_TIMEOUT = Duration.ofSeconds(60);
  private static final double NS_PER_US = 1e3;

  private final Console console;

  private final Declared<String> processes =
      text("--processes", "N,...", "2,4").help(1, "Numbers of processes");

  private final Declared<String> bytes =
      text("--bytes", "N,...", "256,4096")
          .help(2, "Sizes of frames; the first one with --collective");

  private final Declared<Integer> gathers =
      integer("--gathers", "20000", 1, MAX_GATHERS)
          .help(3, "Gathers of a measurement, after 50000 to warm up");

  private final Declared<Integer> rounds =
      integer("--rounds", "5", 1, MAX_ROUNDS).help(4, "Measurements of each kind");

  @Mixin private LaunchOptions launch;

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private CommonOptions common;

  BenchCollectiveCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    List<Integer> sizes = integers("--bytes", bytes.value(), 0, MAX_BYTES);
    int count = gathers.value();
    launch.check();
    if (launch.collective() != LaunchOptions.Collective.NONE) {
      return measureOwn(sizes.get(0), count);
    }
    String root = System.getProperty("kvasir.root");
    if (root == null) {
      throw new IOException("bench collective compiles a C program: run ./kvasir there");
    }
    List<String> member = OwnCommand.of(List.of(), List.of("bench", "collective"));
    try (CollectiveBench bench = new CollectiveBench(member, Path.of(root), console::note)) {
      print(
          bench.measure(
              integers("--processes", processes.value(), 2, MAX_PROCESSES),
              sizes,
              count,
              rounds.value()));
    }
    return ExitCode.DONE;
  }

  private static List<Integer> integers(String option, String text, int minimum, int maximum) {
    return Values.list(option, text, word -> Values.integer(option, word, minimum, maximum));
  }

  private int measureOwn(int size, int count) throws Exception {
    try (ProcessGroup group = launch.open(console, JOIN_TIMEOUT)) {
      GroupSettings settings =
          new GroupSettings(
              "bench",
              BuildVersion.read().version().hashCode(),
              31L * size + count,
              Member.evenly(group.size(), group.size()),
              launch.timeout(),
              GroupSettings.DEFAULT_MAX_FRAME_BYTES,
              launch.spin());
      try (RankCollective collective = group.form(settings)) {
        GatherTimes times = GatherTimes.measure(collective, size, count);
        if (group.rank() == 0) {
          console.print(times + "\n");
        }
      }
    }
    return ExitCode.DONE;
  }

  private void print(Map<CollectiveBench.Cell, List<GatherTimes>> times)
      throws Console.OutputException {
    StringBuilder text = new StringBuilder();
    String format = "%-32s %10s %8s %12s %20s %12s%n";
    text.append(
        String.format(
            Locale.ROOT,
            format,
            "network",
            "processes",
            "bytes",
            "p50 us",
            "least to most",
            "p99 us"));
    times.forEach(
        (cell, measured) -> {
          double[] medians =
              measured.stream().mapToDouble(t -> t.p50Ns() / NS_PER_US).sorted().toArray();
          double[] tails =
              measured.stream().mapToDouble(t -> t.p99Ns() / NS_PER_US).sorted().toArray();
          text.append(
              String.format(
                  Locale.ROOT,
                  format,
                  cell.network(),
                  cell.processes(),
                  cell.bytes(),
                  us(medians[medians.length / 2]),
                  us(medians[0]) + " to " + us(medians[medians.length - 1]),
                  us(tails[tails.length / 2])));
        });
    console.print(text.toString());
  }

  private static String us(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
