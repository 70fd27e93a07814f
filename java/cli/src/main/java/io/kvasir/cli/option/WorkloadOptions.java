package io.kvasir.cli.option;

import io.kvasir.cli.terminal.Console;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.RecordedTraffic;
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
import java.nio.file.Path;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Predicate;
import picocli.CommandLine.Mixin;

/** Options of the replayed workload and its speed. */
@Heading(Heading.WORKLOAD)
public final class WorkloadOptions extends DeclaredOptions {

  private static final int MAX_IN_FLIGHT = 1_000_000;
  private static final double MIN_RATE = 1e-6;
  private static final double MAX_RATE = 1e6;
  private static final double NS_PER_S = 1e9;

  /** About 30 years. Virtual time is in nanoseconds of 64 bits, which last for about 300 years. */
  private static final double MAX_SECONDS = 1e9;

  private static final int DEFAULT_CONCURRENCY = 64;
  private static final double DEFAULT_SPEED = 1;

  private static final String TRACE = "--trace";
  private static final String RECORDING = "--recording";
  private static final String TURNS_WAIT = "--turns-wait";

  private final Declared<Path> trace =
      path(TRACE).help(1, "Trace to replay: Mooncake JSON lines or CSV; also as .gz, .xz or .zst.");

  @Mixin private TraceOptions traceOptions;

  private final Declared<Path> recording =
      path(RECORDING).help(3, "Recording of serve --record to replay.");

  private final Declared<GeneratedOptions.Kind> workload =
      choice("--workload", "multi_turn", GeneratedOptions.Kind.class)
          .candidates(Choices.Workloads.class)
          .help(3, "Generated workload: ${COMPLETION-CANDIDATES}");

  private final Declared<Double> speed =
      number("--speed", null, MIN_RATE, MAX_RATE)
          .help(4, "Open loop: multiple of the speed of arrivals (default for traces: 1.0).");

  private final Declared<Boolean> turnsWait =
      flag(TURNS_WAIT, "false")
          .bare("true")
          .help(
              4,
              "A request of a trace or recording waits for the answer before it in its"
                  + " conversation");

  private final Declared<Double> rate =
      number("--rate", null, MIN_RATE, MAX_RATE)
          .help(5, "Open loop: requests, or sessions, that start per second.");

  private final Declared<Integer> concurrency =
      integer("--concurrency", null, 1, MAX_IN_FLIGHT)
          .help(6, "Closed loop: requests, or sessions, in flight (default for workloads: 64).");

  private final Declared<Long> seed = seed("--seed", "0").help(7, "Seed of everything random");

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
    if (turnsWait.value() && !trace.isGiven() && !recording.isGiven()) {
      refuse(TURNS_WAIT, "needs --trace or --recording", isFlag);
    }
    long chosenSeed = seed.value();
    if (trace.isGiven()) {
      generated.refuseAllBut("a trace", name -> false, isFlag);
      Trace rows = TraceReader.read(trace.value(), traceOptions.reading());
      return planTrace(rows, chosenSeed, console);
    }
    if (recording.isGiven()) {
      generated.refuseAllBut("a recording", name -> false, isFlag);
      traceOptions.refuse(isFlag);
      return planTrace(RecordedTraffic.read(recording.value()), chosenSeed, console);
    }
    GeneratedOptions.Kind kind = workload.value();
    generated.refuseAllBut("--workload " + Values.id(kind), kind::has, isFlag);
    traceOptions.refuse(isFlag);
    if (isFlag.test("--speed") && !rate.isGiven()) {
      throw new UsageException("--speed", "needs --trace or --rate");
    }
    double perSecond = rate.orElse(0.0);
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
    if (rate.isGiven()) {
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
    if (rate.isGiven()) {
      requireShort("--rate", generated.requests() / perSecond / speed());
    }
    return play(generated.sequence(kind, perSecond, chosenSeed), !rate.isGiven());
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
    if (trace.isGiven() && recording.isGiven()) {
      (settings.beats(RECORDING, TRACE) ? trace : recording).clear();
    }
    if (trace.isGiven() && settings.beats("--workload", TRACE)) {
      trace.clear();
    }
    if (recording.isGiven() && settings.beats("--workload", RECORDING)) {
      recording.clear();
    }
    if (concurrency.isGiven() && settings.beats("--speed", "--concurrency")) {
      concurrency.clear();
    }
    if (concurrency.isGiven() && settings.beats("--rate", "--concurrency")) {
      concurrency.clear();
    }
    if (trace.isGiven() || recording.isGiven()) {
      refuse("--rate", "needs a generated workload", settings::isFlag);
      rate.clear();
    } else if (settings.beats("--concurrency", "--rate")) {
      rate.clear();
    }
  }

  private static void refuse(String option, String rule, Predicate<String> isFlag) {
    if (isFlag.test(option)) {
      throw new UsageException(option, rule);
    }
  }

  private Plan planTrace(Trace rows, long chosenSeed, Console console) {
    rows.warnings().forEach(warning -> console.note(rows.file() + ": " + warning));
    OptionalDouble bound =
        rows.namesBlocks() ? OptionalDouble.of(rows.blockUpperBound()) : OptionalDouble.empty();
    if (!concurrency.isGiven()) {
      requireShort("--speed", rows.arrivalNs(rows.rows() - 1) / NS_PER_S / speed());
    }
    Conversations conversations = Conversations.infer(rows);
    RequestSequence requests = new TraceRequests(rows, conversations);
    if (turnsWait.value()) {
      if (!conversations.known()) {
        throw new UsageException(TURNS_WAIT, "needs a trace with ids or conversations");
      }
      if (concurrency.isGiven()) {
        throw new UsageException(TURNS_WAIT, "does not apply with --concurrency");
      }
      return new Plan(new OpenLoop(requests, speed(), true), bound, chosenSeed);
    }
    return new Plan(play(requests, concurrency.isGiven()), bound, chosenSeed);
  }

  private Workload play(RequestSequence requests, boolean closed) {
    return closed ? new ClosedLoop(requests, concurrency()) : new OpenLoop(requests, speed());
  }

  private double speed() {
    return speed.orElse(DEFAULT_SPEED);
  }

  private int concurrency() {
    return concurrency.orElse(DEFAULT_CONCURRENCY);
  }
}
