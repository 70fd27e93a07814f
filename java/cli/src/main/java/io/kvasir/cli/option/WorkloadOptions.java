package io.kvasir.cli.option;

import io.kvasir.cli.terminal.Console;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import io.kvasir.simulator.workload.ClosedLoop;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.TraceRequests;
import io.kvasir.simulator.workload.Workload;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Predicate;
import picocli.CommandLine.Option;

/** Options of what is replayed and how fast. */
public final class WorkloadOptions {

  private static final int MOST_IN_FLIGHT = 1_000_000;
  private static final double LEAST_RATE = 1e-6;
  private static final double MOST_RATE = 1e6;
  private static final double NS_PER_S = 1e9;

  /** Over thirty years. Virtual time is nanoseconds in 64 bits, which last for three hundred. */
  private static final double MOST_SECONDS = 1e9;

  private static final String DEFAULT_CONCURRENCY = "64";
  private static final String DEFAULT_SPEED = "1.0";

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      order = 1,
      description =
          "Replay a trace: Mooncake JSON lines or Azure CSV; .gz, .xz and .zst are read as they"
              + " are.")
  private String trace;

  @Option(
      names = "--trace-block-tokens",
      paramLabel = "N",
      defaultValue = "512",
      order = 2,
      description = "Tokens that one id of the trace stands for (default: ${DEFAULT-VALUE}).")
  private String traceBlockTokens;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      defaultValue = "multi_turn",
      order = 3,
      description =
          "Replay a generated workload: multi_turn, shared_prefix, uniform"
              + " (default: ${DEFAULT-VALUE}).")
  private String workload;

  @Option(
      names = "--speed",
      paramLabel = "X",
      order = 4,
      description = "Open loop: play arrival times X times faster (default for traces: 1.0).")
  private String speed;

  @Option(
      names = "--rate",
      paramLabel = "X",
      order = 5,
      description = "Open loop: requests (multi_turn: sessions) that a workload starts per second.")
  private String rate;

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      order = 6,
      description =
          "Closed loop: so many requests (multi_turn: sessions) at a time (default for workloads:"
              + " 64).")
  private String concurrency;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "0",
      order = 7,
      description = "Seed of everything random (default: ${DEFAULT-VALUE}).")
  private String seed;

  /**
   * What the options ask for.
   *
   * @param workload the requests
   * @param traceBlockUpperBound the trace's own bound, if it lists ids
   * @param seed the seed
   */
  public record Plan(Workload workload, OptionalDouble traceBlockUpperBound, long seed) {}

  /**
   * Reads the trace or sets up the generator.
   *
   * @param generated what a generated workload consists of
   * @param settings where options have their values from
   * @param console hears warnings
   * @return the workload
   * @throws IOException if the trace cannot be used
   */
  public Plan plan(GeneratedOptions generated, Settings settings, Console console)
      throws IOException {
    settleConflicts(settings);
    Predicate<String> given = settings::isFlag;
    long chosenSeed = Values.seed("--seed", seed);
    if (trace != null) {
      generated.refuseAllBut("a trace", name -> false, given);
      return planTrace(chosenSeed, console);
    }
    GeneratedOptions.Kind kind =
        Values.choice("--workload", workload, GeneratedOptions.Kind.ALL, GeneratedOptions.Kind::id);
    generated.refuseAllBut("--workload " + kind.id(), kind::has, given);
    refuse("--trace-block-tokens", "needs --trace", given);
    if (given.test("--speed") && rate == null) {
      throw new UsageException("--speed", "needs --trace or --rate");
    }
    double perSecond = rate == null ? 0 : Values.number("--rate", rate, LEAST_RATE, MOST_RATE);
    Workload planned =
        kind == GeneratedOptions.Kind.MULTI_TURN
            ? sessions(generated, perSecond, chosenSeed, given)
            : sequence(generated, kind, perSecond, chosenSeed);
    return new Plan(planned, OptionalDouble.empty(), chosenSeed);
  }

  private Workload sessions(
      GeneratedOptions generated, double perSecond, long chosenSeed, Predicate<String> given) {
    if (rate != null) {
      refuse(GeneratedOptions.RAMP, "needs --concurrency", given);
      MultiTurn open = generated.multiTurn(perSecond * speed(), 0, chosenSeed);
      requireShort("--rate", open.shape().sessions() / open.shape().sessionsPerSecond());
      return open;
    }
    MultiTurn closed = generated.multiTurn(0, concurrency(DEFAULT_CONCURRENCY), chosenSeed);
    requireShort(
        "--think-seconds",
        closed.plannedRequests()
            * closed.shape().thinkTime().meanSeconds()
            / Math.min(closed.shape().concurrency(), closed.shape().sessions()));
    return closed;
  }

  private Workload sequence(
      GeneratedOptions generated, GeneratedOptions.Kind kind, double perSecond, long chosenSeed) {
    if (rate != null) {
      requireShort("--rate", generated.requests() / perSecond / speed());
    }
    return play(generated.sequence(kind, perSecond, chosenSeed), rate == null);
  }

  private static void requireShort(String option, double seconds) {
    if (seconds > MOST_SECONDS) {
      throw new UsageException(
          option,
          String.format(
              Locale.ROOT,
              "makes the replay last about %.1e s of modelled time; it may last %.0e",
              seconds,
              MOST_SECONDS));
    }
  }

  /**
   * Of options that contradict each other, the one whose value wins holds; two flags, or two keys
   * of a file, that contradict each other are wrong.
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

  private static void refuse(String option, String rule, Predicate<String> given) {
    if (given.test(option)) {
      throw new UsageException(option, rule);
    }
  }

  private Plan planTrace(long chosenSeed, Console console) throws IOException {
    int blockTokens = Values.integer("--trace-block-tokens", traceBlockTokens, 1, Trace.MAX_TOKENS);
    Trace rows = TraceReader.read(path(), blockTokens);
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

  private Path path() {
    try {
      return Path.of(trace);
    } catch (InvalidPathException e) {
      throw new UsageException("--trace", "must be a path, not '" + trace + "'");
    }
  }

  private Workload play(RequestSequence requests, boolean closed) {
    return closed
        ? new ClosedLoop(requests, concurrency(DEFAULT_CONCURRENCY))
        : new OpenLoop(requests, speed());
  }

  private double speed() {
    return Values.number("--speed", speed == null ? DEFAULT_SPEED : speed, LEAST_RATE, MOST_RATE);
  }

  private int concurrency(String otherwise) {
    return Values.integer(
        "--concurrency", concurrency == null ? otherwise : concurrency, 1, MOST_IN_FLIGHT);
  }
}
