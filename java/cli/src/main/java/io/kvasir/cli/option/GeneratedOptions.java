package io.kvasir.cli.option;

import io.kvasir.simulator.workload.Agentic;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Options of generated workloads. */
@Heading(Heading.WORKLOAD)
public final class GeneratedOptions extends DeclaredOptions {

  private static final int MAX_SESSIONS = 1_000_000;
  private static final int MAX_REQUESTS = 10_000_000;
  private static final int MAX_TURNS = 1000;
  private static final int MAX_SUB_AGENTS = 100;
  private static final int MAX_TOKENS = 1 << 20;
  private static final double MAX_THINK_SECONDS = 1e6;
  private static final double MAX_RAMP_SECONDS = 1e6;
  private static final double MAX_SIGMA = 5;
  private static final double MAX_SKEW = 10;

  /** The generated workloads. */
  enum Kind {
    MULTI_TURN(200, 2000, 3, 8),
    AGENTIC(200, 12_000, 20, 60),
    SHARED_PREFIX(200, 0, 1, 1),
    UNIFORM(2000, 0, 1, 1);

    private final int medianUserTokens;
    private final int systemPromptTokens;
    private final int leastTurns;
    private final int mostTurns;

    Kind(int medianUserTokens, int systemPromptTokens, int leastTurns, int mostTurns) {
      this.medianUserTokens = medianUserTokens;
      this.systemPromptTokens = systemPromptTokens;
      this.leastTurns = leastTurns;
      this.mostTurns = mostTurns;
    }

    /** Whether its requests depend on earlier answers. */
    boolean hasSessions() {
      return has("--sessions");
    }

    /** Whether an option of this class applies to this workload. */
    boolean has(String option) {
      return KINDS.getOrDefault(option, Set.of()).contains(this);
    }
  }

  static final String RAMP = "--ramp-seconds";

  private static final Map<String, Set<Kind>> KINDS =
      Map.ofEntries(
          Map.entry("--sessions", Set.of(Kind.MULTI_TURN, Kind.AGENTIC)),
          Map.entry("--system-prompt-tokens", Set.of(Kind.MULTI_TURN, Kind.AGENTIC)),
          Map.entry("--turns", Set.of(Kind.MULTI_TURN, Kind.AGENTIC)),
          Map.entry("--think-seconds", Set.of(Kind.MULTI_TURN)),
          Map.entry("--think-time", Set.of(Kind.MULTI_TURN)),
          Map.entry("--think-sigma", Set.of(Kind.MULTI_TURN)),
          Map.entry(RAMP, Set.of(Kind.MULTI_TURN, Kind.AGENTIC)),
          Map.entry("--tool-tokens", Set.of(Kind.AGENTIC)),
          Map.entry("--sub-agents", Set.of(Kind.AGENTIC)),
          Map.entry("--requests", Set.of(Kind.SHARED_PREFIX, Kind.UNIFORM)),
          Map.entry("--prefixes", Set.of(Kind.SHARED_PREFIX)),
          Map.entry("--prefix-tokens", Set.of(Kind.SHARED_PREFIX)),
          Map.entry("--prefix-skew", Set.of(Kind.SHARED_PREFIX)),
          Map.entry("--user-tokens", Set.of(Kind.values())),
          Map.entry("--user-tokens-sigma", Set.of(Kind.values())),
          Map.entry("--output-tokens", Set.of(Kind.values())));

  private final Declared<Integer> sessions =
      integer("--sessions", "400", 1, MAX_SESSIONS)
          .help(20, "multi_turn, agentic: number of sessions");

  private final Declared<IntRange> turns =
      range("--turns", null, MAX_TURNS)
          .help(21, "multi_turn, agentic: turns in a session (default: 3-8, agentic 20-60).");

  private final Declared<Integer> systemPromptTokens =
      integer("--system-prompt-tokens", null, 0, MAX_TOKENS)
          .help(
              22,
              "multi_turn, agentic: length of the shared system prompt (default: 2000, agentic"
                  + " 12000).");

  private final Declared<ThinkTime.Distribution> thinkTime =
      choice(
              "--think-time",
              "exponential",
              List.of(ThinkTime.Distribution.values()),
              ThinkTime.Distribution::id)
          .candidates(Choices.ThinkTimes.class)
          .help(23, "multi_turn: distribution of think times: ${COMPLETION-CANDIDATES}");

  private final Declared<Double> thinkSeconds =
      number("--think-seconds", "5", 0, MAX_THINK_SECONDS).help(24, "multi_turn: mean think time");

  private final Declared<Double> thinkSigma =
      number("--think-sigma", "1.0", 0, MAX_SIGMA)
          .help(25, "multi_turn: sigma of a lognormal think time");

  private final Declared<Double> rampSeconds =
      number(RAMP, "0", 0, MAX_RAMP_SECONDS)
          .help(
              26,
              "Sessions with --concurrency: time over which the first sessions start"
                  + " (default: ${DEFAULT-VALUE}, all at once).");

  private final Declared<IntRange> toolTokens =
      range("--tool-tokens", "200-8000", MAX_TOKENS).help(27, "agentic: length of a tool's output");

  private final Declared<IntRange> subAgents =
      range("--sub-agents", "2-5", MAX_SUB_AGENTS).help(28, "agentic: sub-agents of a session");

  private final Declared<Integer> requests =
      integer("--requests", "2000", 1, MAX_REQUESTS)
          .help(29, "shared_prefix, uniform: number of requests");

  private final Declared<Integer> prefixes =
      integer("--prefixes", "16", 1, MAX_REQUESTS).help(30, "shared_prefix: number of prefixes");

  private final Declared<Integer> prefixTokens =
      integer("--prefix-tokens", "2000", 1, MAX_TOKENS)
          .help(31, "shared_prefix: length of a prefix");

  private final Declared<Double> prefixSkew =
      number("--prefix-skew", "1.0", 0, MAX_SKEW)
          .help(32, "shared_prefix: Zipf exponent of prefixes; 0 for equal use");

  private final Declared<Integer> userTokens =
      integer("--user-tokens", null, 1, MAX_TOKENS)
          .help(33, "Median of the tokens that a request adds (default: 200, uniform 2000).");

  private final Declared<Double> userTokensSigma =
      number("--user-tokens-sigma", "1.0", 0, MAX_SIGMA).help(34, "Sigma of that lognormal number");

  private final Declared<IntRange> outputTokens =
      range("--output-tokens", "150-300", MAX_TOKENS).help(35, "Tokens in an answer");

  GeneratedOptions() {}

  /** Refuses options on the command line that do not apply to the replayed workload. */
  void refuseAllBut(String replayed, Predicate<String> applies, Predicate<String> isFlag) {
    KINDS.keySet().stream()
        .sorted()
        .filter(option -> isFlag.test(option) && !applies.test(option))
        .findFirst()
        .ifPresent(
            option -> {
              throw new UsageException(option, "does not apply to " + replayed);
            });
  }

  /** When sessions begin: a closed loop if the rate is 0. */
  Starts starts(double sessionsPerSecond, int concurrency) {
    return concurrency > 0
        ? new Starts.Closed(concurrency, rampSeconds.value())
        : new Starts.Open(sessionsPerSecond);
  }

  /** The multi_turn workload. */
  MultiTurn multiTurn(Starts starts, long seed) {
    return new MultiTurn(
        new MultiTurn.Shape(
            sessions(),
            starts,
            systemPromptTokens(Kind.MULTI_TURN),
            turns(Kind.MULTI_TURN),
            userTokens(Kind.MULTI_TURN),
            answers(),
            new ThinkTime(thinkTime.value(), thinkSeconds.value(), thinkSigma.value()),
            seed));
  }

  /** The agentic workload. */
  Agentic agentic(Starts starts, long seed) {
    return new Agentic(
        new Agentic.Shape(
            sessions(),
            starts,
            systemPromptTokens(Kind.AGENTIC),
            turns(Kind.AGENTIC),
            toolTokens.value(),
            subAgents.value(),
            userTokens(Kind.AGENTIC),
            answers(),
            1,
            seed));
  }

  /** The shared_prefix or the uniform workload. */
  RequestSequence sequence(Kind kind, double perSecond, long seed) {
    boolean shared = kind == Kind.SHARED_PREFIX;
    return new SharedPrefix(
        new SharedPrefix.Shape(
            requests(),
            shared ? prefixes.value() : 0,
            shared ? prefixTokens.value() : 0,
            shared ? prefixSkew.value() : 0,
            userTokens(kind),
            answers(),
            perSecond,
            seed));
  }

  /** Number of requests of the shared_prefix or the uniform workload. */
  int requests() {
    return requests.value();
  }

  /** Number of sessions of the multi_turn or the agentic workload. */
  int sessions() {
    return sessions.value();
  }

  private IntRange turns(Kind kind) {
    return turns.orElse(new IntRange(kind.leastTurns, kind.mostTurns));
  }

  private int systemPromptTokens(Kind kind) {
    return systemPromptTokens.orElse(kind.systemPromptTokens);
  }

  private LognormalTokens userTokens(Kind kind) {
    return new LognormalTokens(userTokens.orElse(kind.medianUserTokens), userTokensSigma.value());
  }

  private IntRange answers() {
    return outputTokens.value();
  }
}
