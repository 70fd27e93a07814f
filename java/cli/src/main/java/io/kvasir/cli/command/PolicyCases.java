package io.kvasir.cli.command;

import io.kvasir.cli.option.Choices;
import io.kvasir.cli.option.ModeOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.model.Errors;
import io.kvasir.simulator.compare.GeneratedTraffic;
import io.kvasir.simulator.compare.Load;
import io.kvasir.simulator.compare.Setting;
import io.kvasir.simulator.compare.Traffic;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import io.kvasir.simulator.workload.TraceRequests;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The cases in which policies are compared: requests, modes of the ranks, loads and pools. */
final class PolicyCases {

  private static final int MAX_RANKS = 4096;
  private static final double DEFAULT_JITTER_SECONDS = 3;
  private static final double MAX_JITTER_SECONDS = 86_400;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      order = 1,
      description = "Trace to play; can be repeated.")
  private List<String> traces = List.of();

  @Option(
      names = "--workload",
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.ComparedWorkloads.class,
      order = 2,
      description =
          "Generated workloads to play: any of ${COMPLETION-CANDIDATES} (default without a trace:"
              + " uniform).")
  private @Nullable String workloads;

  @Option(
      names = "--mode",
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.Modes.class,
      defaultValue = "aggregated",
      order = 2,
      description =
          "Modes of the ranks: any of ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private String modes;

  @Option(
      names = "--load",
      paramLabel = "RANKS@SHARE[,...]",
      defaultValue = "8@0.5,8@0.8,8@0.95,64@0.8",
      order = 2,
      description =
          "Ranks, and share of the time in which they prefill (default: ${DEFAULT-VALUE}).")
  private String loads;

  @Option(
      names = "--pool-tokens",
      paramLabel = "N[,N]",
      defaultValue = "250000,1000000,3000000",
      order = 3,
      description = "Tokens of KV in the pool of a rank (default: ${DEFAULT-VALUE}).")
  private String poolTokens;

  @Option(
      names = "--jitter-seconds",
      paramLabel = "X",
      order = 5,
      description = "Longest delay of an arrival, on the clock of the trace (default: 3).")
  private @Nullable String jitterSeconds;

  @Option(
      names = "--sample",
      paramLabel = "N",
      order = 6,
      description = "Plays N cases, drawn from all combinations (default: all of them).")
  private @Nullable String sample;

  @Option(
      names = "--sample-seed",
      paramLabel = "N",
      order = 7,
      description = "Seed of the drawing (default: 1).")
  private @Nullable String sampleSeed;

  /**
   * All combinations, or those that are drawn from them, in the order of the options.
   *
   * @throws IOException if a trace cannot be read
   * @throws UsageException if a value is not allowed
   */
  List<Setting> settings() throws IOException {
    requireUse("--jitter-seconds", jitterSeconds != null, "--trace", !traces.isEmpty());
    requireUse("--sample-seed", sampleSeed != null, "--sample", sample != null);
    List<Load> allLoads = Values.list("--load", loads, PolicyCases::load);
    List<Integer> pools =
        Values.list(
            "--pool-tokens",
            poolTokens,
            size -> Values.integer("--pool-tokens", size, 1024, Integer.MAX_VALUE));
    List<ReplayMode> allModes = Values.list("--mode", modes, ModeOptions::named);
    List<Setting> all = new ArrayList<>();
    for (IntFunction<Traffic> traffic : traffic()) {
      for (ReplayMode mode : allModes) {
        for (Load load : allLoads) {
          Traffic sized = traffic.apply(load.ranks());
          for (int tokens : pools) {
            all.add(new Setting(sized, mode, load, tokens));
          }
        }
      }
    }
    long seed = sampleSeed == null ? 1 : Values.seed("--sample-seed", sampleSeed);
    if (sample == null) {
      return all;
    }
    int drawn = Values.integer("--sample", sample, 1, all.size());
    List<Setting> shuffled = new ArrayList<>(all);
    Collections.shuffle(shuffled, new Random(seed));
    Set<Setting> chosen = new HashSet<>(shuffled.subList(0, drawn));
    return all.stream().filter(chosen::contains).toList();
  }

  /** The requests by the number of ranks. */
  private List<IntFunction<Traffic>> traffic() throws IOException {
    double jitter =
        jitterSeconds == null
            ? DEFAULT_JITTER_SECONDS
            : Values.number("--jitter-seconds", jitterSeconds, 0, MAX_JITTER_SECONDS);
    List<IntFunction<Traffic>> all = new ArrayList<>();
    for (String file : traces) {
      Trace trace = TraceReader.read(Values.path("--trace", file), 512);
      Traffic played =
          Traffic.jittered(
              new TraceRequests(trace, Conversations.infer(trace)),
              jitter,
              digest(Values.path("--trace", file)));
      all.add(ranks -> played);
    }
    String generated = workloads == null && all.isEmpty() ? "uniform" : workloads;
    if (generated != null) {
      Values.list(
              "--workload",
              generated,
              name -> Values.choice("--workload", name, GeneratedTraffic.class))
          .forEach(traffic -> all.add(traffic::of));
    }
    return all;
  }

  /** Other contents have another digest. */
  private static String digest(Path file) throws IOException {
    CRC32C sum = new CRC32C();
    try (InputStream in = new CheckedInputStream(Files.newInputStream(file), sum)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
    return "crc32c " + Long.toHexString(sum.getValue());
  }

  /** The option that gave a case its requests. */
  static String option(Setting setting) {
    boolean generated =
        Stream.of(GeneratedTraffic.values())
            .anyMatch(traffic -> traffic.id().equals(setting.traffic().name()));
    return generated ? "--workload" : "--trace";
  }

  private static void requireUse(String option, boolean given, String other, boolean otherGiven) {
    if (given && !otherGiven) {
      throw new UsageException(option, "needs " + other);
    }
  }

  private static Load load(String text) {
    String[] parts = text.split("@", -1);
    if (parts.length != 2) {
      throw new UsageException(
          "--load", "must be RANKS@SHARE, for example 8@0.8, not '" + Errors.shown(text) + "'");
    }
    return new Load(
        Values.integer("--load", parts[0], 1, MAX_RANKS),
        Values.number("--load", parts[1], 0.01, 0.99));
  }
}
