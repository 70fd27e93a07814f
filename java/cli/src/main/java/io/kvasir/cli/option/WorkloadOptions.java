package io.kvasir.cli.option;

import io.kvasir.cli.terminal.Console;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import io.kvasir.simulator.workload.ClosedLoop;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.TraceRequests;
import io.kvasir.simulator.workload.Workload;
import java.io.IOException;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the replayed workload and its speed. */
@Heading(Heading.WORKLOAD)
public final class WorkloadOptions {

  private static final int MAX_IN_FLIGHT = 1_000_000;
  private static final double MIN_RATE = 1e-6;
  private static final double MAX_RATE = 1e6;
  private static final double NS_PER_S = 1e9;

  /** About 30 years. Virtual time is in nanoseconds of 64 bits, which last for about 300 years. */
  private static final double MAX_SECONDS = 1e9;

  private static final String DEFAULT_CONCURRENCY = "64";
  private static final String DEFAULT_SPEED = "1.0";

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      order = 1,
      description = "Trace to replay: Mooncake JSON lines or Azure CSV; also as .gz, .xz or .zst.")
  private @Nullable String trace;

  @Option(
      names = "--trace-block-tokens",
      paramLabel = "N",
      defaultValue = "512",
      order = 2,
      description = "Tokens for each id of the trace (default: ${DEFAULT-VALUE}).")
  private String traceBlockTokens;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      completionCandidates = Choices.Workloads.class,
      defaultValue = "multi_turn",
      order = 3,
      description = "Generated workload: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private String workload;

  @Option(
      names = "--speed",
      paramLabel = "X",
      order = 4,
      description = "Open loop: multiple of the speed of arrivals (default for traces: 1.0).")
  private @Nullable String speed;

  @Option(
      names = "--rate",
      paramLabel = "X",
      order = 5,
      description = "Open loop: requests, or sessions, that start per second.")
  private @Nullable String rate;

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      order = 6,
      description = "Closed loop: requests, or sessions, in flight (default for workloads: 64).")
  private @Nullable String concurrency;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "0",
      order = 7,
      description = "Seed of everything random (default: ${DEFAULT-VALUE}).")
  private String seed;

  /**
   * The workload that the options describe.
   *
   * @param workload the workload
   * @param traceBlockUpperBound the highest possible block hit rate, from 0 to 1; empty without ids
   * @param seed the seed
   */
  public record Plan(Workload workload, OptionalDouble traceBlockUpperBound, long seed) {}

  WorkloadOptions() {}

  /**
   * Reads the trace or sets up the generator.
   *
   * @param generated the options of generated workloads
   * @param settings the sources of option values
   * @param console receives warnings
   * @return the workload
   * @throws IOException if the trace cannot be read
   * @throws UsageException if a value is not allowed
   */
  public Plan plan(GeneratedOptions generated, Settings settings, Console console)
      throws IOException {
    settleConflicts(settings);
    Predicate<String> isFlag = settings::isFlag;
    long chosenSeed = Values.seed("--seed", seed);
    if (trace != null) {
      generated.refuseAllBut("a trace", name -> false, isFlag);
      return planTrace(trace, chosenSeed, console);
    }
    GeneratedOptions.Kind kind = Values.choice("--workload", workload, GeneratedOptions.Kind.class);
    generated.refuseAllBut("--workload " + Values.id(kind), kind::has, isFlag);
    refuse("--trace-block-tokens", "needs --trace", isFlag);
    if (isFlag.test("--speed") && rate == null) {
      throw new UsageException("--speed", "needs --trace or --rate");
    }
    double perSecond = rate == null ? 0 : Values.number("--rate", rate, MIN_RATE, MAX_RATE);
    Workload planned =
        kind.hasSessions()
            ? sessions(generated, kind, perSecond, chosenSeed, isFlag)
            : sequence(generated, kind, perSecond, chosenSeed);
    return new Plan(planned, OptionalDouble.empty(), chosenSeed);
  }

  private Workload sessions(
      GeneratedOptions generated,
      GeneratedOptions.Kind kind,
      double perSecond,
      long chosenSeed,
      Predicate<String> isFlag) {
    int sessions = generated.sessions();
    double startsPerSecond = 0;
    int inFlight = 0;
    if (rate != null) {
      refuse(GeneratedOptions.RAMP, "needs --concurrency", isFlag);
      startsPerSecond = perSecond * speed();
      requireShort("--rate", sessions / startsPerSecond);
    } else {
      inFlight = concurrency();
    }
    Starts starts = generated.starts(startsPerSecond, inFlight);
    if (kind == GeneratedOptions.Kind.AGENTIC) {
      return generated.agentic(starts, chosenSeed);
    }
    MultiTurn planned = generated.multiTurn(starts, chosenSeed);
    if (inFlight > 0) {
      requireShort(
          "--think-seconds",
          planned.plannedRequests()
              * planned.shape().thinkTime().meanSeconds()
              / Math.min(inFlight, sessions));
    }
    return planned;
  }

  private Workload sequence(
      GeneratedOptions generated, GeneratedOptions.Kind kind, double perSecond, long chosenSeed) {
    if (rate != null) {
      requireShort("--rate", generated.requests() / perSecond / speed());
    }
    return play(generated.sequence(kind, perSecond, chosenSeed), rate == null);
  }

  private static void requireShort(String option, double seconds) {
    if (seconds > MAX_SECONDS) {
      throw new UsageException(
          option,
          String.format(
              Locale.ROOT,
              "makes the replay last about %.1e s of modelled time; it may last %.0e",
              seconds,
              MAX_SECONDS));
    }
  }

  /**
   * Clears one of two options that exclude each other: the one whose source loses. Two flags or two
   * keys of a file that exclude each other are wrong.
   */
  private void settleConflicts(Settings settings) {
    if (trace != null && settings.beats("--workload", "--trace")) {
      trace = null;
    }
    if (concurrency != null && settings.beats("--speed", "--concurrency")) {
      concurrency = null;
    }
    if (concurrency != null && settings.beats("--rate", "--concurrency")) {
      concurrency = null;
    }
    if (trace != null) {
      refuse("--rate", "needs a generated workload", settings::isFlag);
      rate = null;
    } else if (settings.beats("--concurrency", "--rate")) {
      rate = null;
    }
  }

  private static void refuse(String option, String rule, Predicate<String> isFlag) {
    if (isFlag.test(option)) {
      throw new UsageException(option, rule);
    }
  }

  private Plan planTrace(String file, long chosenSeed, Console console) throws IOException {
    int blockTokens = Values.integer("--trace-block-tokens", traceBlockTokens, 1, Trace.MAX_TOKENS);
    Trace rows = TraceReader.read(Values.path("--trace", file), blockTokens);
    rows.warnings().forEach(warning -> console.note(rows.file() + ": " + warning));
    OptionalDouble bound =
        rows.format() == Trace.Format.MOONCAKE
            ? OptionalDouble.of(rows.blockUpperBound())
            : OptionalDouble.empty();
    if (concurrency == null) {
      requireShort("--speed", rows.arrivalNs(rows.rows() - 1) / NS_PER_S / speed());
    }
    RequestSequence requests = new TraceRequests(rows, Conversations.infer(rows));
    return new Plan(play(requests, concurrency != null), bound, chosenSeed);
  }

  private Workload play(RequestSequence requests, boolean closed) {
    return closed ? new ClosedLoop(requests, concurrency()) : new OpenLoop(requests, speed());
  }

  private double speed() {
    return Values.number("--speed", speed == null ? DEFAULT_SPEED : speed, MIN_RATE, MAX_RATE);
  }

  private int concurrency() {
    String text = concurrency == null ? DEFAULT_CONCURRENCY : concurrency;
    return Values.integer("--concurrency", text, 1, MAX_IN_FLIGHT);
  }
}
