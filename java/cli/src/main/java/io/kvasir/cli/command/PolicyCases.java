package io.kvasir.cli.command;

import io.kvasir.cli.option.ApartContest;
import io.kvasir.cli.option.ApartOptions;
import io.kvasir.cli.option.Choices;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.GroupList;
import io.kvasir.cli.option.ModeOptions;
import io.kvasir.cli.option.SightOptions;
import io.kvasir.cli.option.StepTimingFile;
import io.kvasir.cli.option.TraceOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.option.Values;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.model.Errors;
import io.kvasir.simulator.compare.EngineKind;
import io.kvasir.simulator.compare.Engines;
import io.kvasir.simulator.compare.GeneratedTraffic;
import io.kvasir.simulator.compare.Load;
import io.kvasir.simulator.compare.RouterComparison;
import io.kvasir.simulator.compare.Setting;
import io.kvasir.simulator.compare.Traffic;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.Sight;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import io.kvasir.simulator.workload.InBursts;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.TraceRequests;
import io.kvasir.timing.StepProfile;
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
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The cases in which policies are compared: requests, modes of ranks, loads, pools, engines. */
final class PolicyCases extends DeclaredOptions {

  private static final int MAX_RANKS = 4096;
  private static final int MAX_IN_FLIGHT = 1_000_000;
  private static final int RANKS = 8;
  private static final String LOAD = "@0.8";
  private static final String CLOSED_LOAD = "x20";
  private static final String TURNS_WAIT = "--turns-wait";
  private static final String BURSTS = "--bursts";
  private static final double DEFAULT_JITTER_SECONDS = 3;
  private static final double MAX_JITTER_SECONDS = 86_400;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      order = 1,
      description = "Trace to play; can be repeated.")
  private List<String> traces = List.of();

  @Mixin private TraceOptions traceOptions;

  private final Declared<List<GeneratedTraffic>> workloads =
      list("--workload", "NAME[,NAME]", null, PolicyCases::workload)
          .candidates(Choices.ComparedWorkloads.class)
          .help(
              2,
              "Generated workloads to play: any of ${COMPLETION-CANDIDATES} (default"
                  + " without a trace: uniform).");

  private final Declared<List<ReplayMode>> modes =
      list("--mode", "NAME[,NAME]", "aggregated", ModeOptions::named)
          .candidates(Choices.Modes.class)
          .help(2, "Modes of the ranks: any of ${COMPLETION-CANDIDATES}");

  private final Declared<String> loads =
      text("--load", "RANKS@SHARE[,...]", null)
          .help(
              2,
              "Ranks, and share of the time in which they prefill, of prefill workers if there are"
                  + " some; RANKSxN for closed loops, with N requests in flight (default: 8@0.8 and"
                  + " 8x20, or with the workers of both roles as ranks).");

  private final Declared<List<Integer>> poolTokens =
      list("--pool-tokens", "N[,N]", "1000000", PolicyCases::poolTokens)
          .help(3, "Tokens of KV in the pool of a rank");

  private final Declared<List<Engines>> timings =
      list(
              StepTimingFile.OPTION,
              "NAME|FILE[,NAME|FILE]",
              StepProfile.MOCKER.id(),
              text -> StepTimingFile.engines(StepTimingFile.OPTION, text))
          .help(
              3,
              "Step times that engines take and ADP routers begin with: any of "
                  + StepTimingFile.NAMES
                  + ", or files");

  private final Declared<List<EngineKind>> engines =
      list("--engines", "NAME[,NAME]", EngineKind.AS_EXPECTED.id(), PolicyCases::engines)
          .candidates(Choices.EngineKinds.class)
          .help(3, "What engines do, compared with these times: any of ${COMPLETION-CANDIDATES}");

  private final Declared<List<Double>> foreignLoad =
      list(SightOptions.FOREIGN_LOAD, "SHARE[,SHARE]", "0", SightOptions::foreignLoad)
          .help(3, SightOptions.FOREIGN_HELP);

  private final Declared<List<Double>> forgetIds =
      list(SightOptions.FORGET_IDS, "SHARE[,SHARE]", "0", SightOptions::forgetIds)
          .help(3, SightOptions.FORGET_HELP);

  private final Declared<List<Integer>> answers =
      list(
              SightOptions.ANSWERS,
              SightOptions.ANSWERS_LABEL + "[,...]",
              SightOptions.KNOWN,
              SightOptions::answers)
          .help(3, SightOptions.ANSWERS_HELP);

  private final Declared<List<Double>> bursts =
      list(BURSTS, "SECONDS[,SECONDS]", "0", PolicyCases::bursts)
          .help(
              3,
              "Length of periods whose requests arrive together at their end, within a tenth of it;"
                  + " 0 for no bursts");

  private final Declared<String> groups =
      text(GroupList.OPTION, GroupList.LABEL, PoolGroup.FULL).help(3, GroupList.HELP);

  private final Declared<Double> jitterSeconds =
      number("--jitter-seconds", null, 0, MAX_JITTER_SECONDS)
          .help(5, "Longest delay of an arrival, on the clock of the trace (default: 3).");

  private final Declared<Boolean> turnsWait =
      flag(TURNS_WAIT, null)
          .bare("true")
          .help(
              5,
              "Requests of traces wait for the answer before them in their conversation (default:"
                  + " those of traces whose rows name their conversations).");

  private final Declared<String> sample =
      text("--sample", "N", null)
          .help(6, "Plays N cases, drawn from all combinations (default: all of them).");

  private final Declared<Long> sampleSeed =
      seed("--sample-seed", null).help(7, "Seed of the drawing (default: 1).");

  /**
   * All combinations, or those that are drawn from them, in the order of the options.
   *
   * @param roles the workers' roles
   * @param fleets whether fleet routers are compared
   * @throws IOException if a trace cannot be read
   * @throws UsageException if a value is not allowed
   */
  List<Setting> settings(ApartContest roles, boolean fleets) throws IOException {
    requireUse("--jitter-seconds", jitterSeconds.isGiven(), "--trace", !traces.isEmpty());
    requireUse(TURNS_WAIT, turnsWait.isGiven(), "--trace", !traces.isEmpty());
    if (traces.isEmpty()) {
      traceOptions.refuse(traceOptions::isSet);
    }
    requireUse("--sample-seed", sampleSeed.isGiven(), "--sample", sample.isGiven());
    List<Integer> pools = poolTokens.value();
    List<PoolGroup> further = GroupList.read(groups.value(), RouterComparison.TOKENS_PER_BLOCK);
    List<ReplayMode> allModes = modes(roles);
    List<Engines> allEngines =
        timings.value().stream()
            .flatMap(timing -> engines.value().stream().map(timing::with))
            .toList();
    List<Sight> sights = sights(fleets);
    List<Setting> all = new ArrayList<>();
    for (Requests requests : requests()) {
      for (ReplayMode mode : allModes) {
        for (Load load : loads(requests, roles)) {
          for (Traffic traffic : traffics(requests, load)) {
            for (int tokens : pools) {
              for (Engines each : allEngines) {
                for (Sight sight : sights) {
                  int prefills = roles.prefillWorkers();
                  all.add(new Setting(traffic, mode, load, tokens, further, prefills, each, sight));
                }
              }
            }
          }
        }
      }
    }
    long seed = sampleSeed.orElse(1L);
    if (!sample.isGiven()) {
      return all;
    }
    int drawn = Values.integer(sample.name(), sample.value(), 1, all.size());
    List<Setting> shuffled = new ArrayList<>(all);
    Collections.shuffle(shuffled, new Random(seed));
    Set<Setting> chosen = new HashSet<>(shuffled.subList(0, drawn));
    return all.stream().filter(chosen::contains).toList();
  }

  private List<Traffic> traffics(Requests requests, Load load) {
    Traffic even = requests.traffic().apply(load);
    if (!requests.closed()) {
      return bursts.value().stream().map(even::inBursts).toList();
    }
    if (bursts.value().stream().anyMatch(seconds -> seconds > 0)) {
      throw bursts.wrong("must be 0 with " + requests.name());
    }
    return List.of(even);
  }

  private List<Sight> sights(boolean fleets) {
    if (!fleets && foreignLoad.value().stream().anyMatch(share -> share > 0)) {
      throw foreignLoad.wrong("needs --fleet-router, and workers without roles");
    }
    if (foreignLoad.value().contains(1.0)) {
      throw foreignLoad.wrong("must be below 1: latencies of those requests are not measured");
    }
    List<Sight> all = new ArrayList<>();
    for (double load : foreignLoad.value()) {
      for (double ids : forgetIds.value()) {
        answers.value().forEach(asked -> all.add(new Sight(load, ids, asked)));
      }
    }
    return all;
  }

  private List<ReplayMode> modes(ApartContest roles) {
    List<ReplayMode> all = modes.value();
    if (!roles.isGiven()) {
      return all;
    }
    if (!all.equals(List.of(ReplayMode.AGGREGATED))) {
      throw modes.wrong("must be aggregated with " + ApartOptions.PREFILL_WORKERS);
    }
    return List.of(ModeOptions.apart());
  }

  private static GeneratedTraffic workload(String name) {
    return Values.choice("--workload", name, GeneratedTraffic.class);
  }

  private static EngineKind engines(String name) {
    return Values.choice("--engines", name, EngineKind.class);
  }

  private static double bursts(String text) {
    return text.equals("0") ? 0 : Values.number(BURSTS, text, 0.1, InBursts.MAX_SECONDS);
  }

  private static int poolTokens(String text) {
    return Values.integer("--pool-tokens", text, 1024, Integer.MAX_VALUE);
  }

  /** Requests for any load of their kind. */
  private record Requests(String name, boolean closed, Function<Load, Traffic> traffic) {}

  private List<Requests> requests() throws IOException {
    double jitter = jitterSeconds.orElse(DEFAULT_JITTER_SECONDS);
    List<Requests> all = new ArrayList<>();
    for (String file : traces) {
      Trace trace = TraceReader.read(Values.path("--trace", file), traceOptions.reading());
      Conversations conversations = Conversations.infer(trace);
      boolean wait = turnsWait.orElse(trace.namesSessions());
      if (wait && !conversations.known()) {
        throw new UsageException(TURNS_WAIT, file + " has no ids or conversations");
      }
      RequestSequence rows = new TraceRequests(trace, conversations);
      String digest = digest(Values.path("--trace", file));
      Traffic played =
          wait ? Traffic.waiting(rows, jitter, digest) : Traffic.jittered(rows, jitter, digest);
      all.add(new Requests(played.name(), false, load -> played));
    }
    List<GeneratedTraffic> byDefault =
        all.isEmpty() ? List.of(GeneratedTraffic.UNIFORM) : List.of();
    workloads
        .orElse(byDefault)
        .forEach(
            each -> all.add(new Requests("--workload " + each.id(), each.isClosed(), each::of)));
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

  /** The loads that requests can be played at. */
  private List<Load> loads(Requests requests, ApartContest roles) {
    int ranks = roles.isGiven() ? roles.workers() : RANKS;
    String text = loads.orElse(ranks + (requests.closed() ? CLOSED_LOAD : LOAD));
    List<Load> fitting =
        Values.list("--load", text, PolicyCases::load).stream()
            .filter(load -> load instanceof Load.InFlight == requests.closed())
            .toList();
    if (fitting.isEmpty()) {
      throw new UsageException(
          "--load",
          "must have a %s for %s"
              .formatted(requests.closed() ? "RANKSxN" : "RANKS@SHARE", requests.name()));
    }
    if (roles.isGiven() && fitting.stream().anyMatch(load -> load.ranks() != ranks)) {
      throw loads.wrong(
          "must have %d ranks, the workers of %s and %s"
              .formatted(ranks, ApartOptions.PREFILL_WORKERS, ApartOptions.DECODE_WORKERS));
    }
    return fitting;
  }

  private static Load load(String text) {
    boolean closed = text.contains("x");
    String[] parts = text.split("[@x]", -1);
    if (parts.length != 2) {
      throw new UsageException(
          "--load",
          "must be RANKS@SHARE or RANKSxN, for example 8@0.8 or 8x20, not '"
              + Errors.shown(text)
              + "'");
    }
    int ranks = Values.integer("--load", parts[0], 1, MAX_RANKS);
    return closed
        ? new Load.InFlight(ranks, Values.integer("--load", parts[1], 1, MAX_IN_FLIGHT))
        : new Load.Share(ranks, Values.number("--load", parts[1], 0.01, 0.99));
  }
}
