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
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of generated workloads. */
@Heading(Heading.WORKLOAD)
public final class GeneratedOptions {

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
    MULTI_TURN(200, 2000, "3-8"),
    AGENTIC(200, 12_000, "20-60"),
    SHARED_PREFIX(200, 0, "1"),
    UNIFORM(2000, 0, "1");

    private final int medianUserTokens;
    private final int systemPromptTokens;
    private final String turns;

    Kind(int medianUserTokens, int systemPromptTokens, String turns) {
      this.medianUserTokens = medianUserTokens;
      this.systemPromptTokens = systemPromptTokens;
      this.turns = turns;
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

  @Option(
      names = "--sessions",
      paramLabel = "N",
      defaultValue = "400",
      order = 20,
      description = "multi_turn, agentic: number of sessions (default: ${DEFAULT-VALUE}).")
  private String sessions;

  @Option(
      names = "--turns",
      paramLabel = "MIN-MAX",
      order = 21,
      description = "multi_turn, agentic: turns in a session (default: 3-8, agentic 20-60).")
  private @Nullable String turns;

  @Option(
      names = "--system-prompt-tokens",
      paramLabel = "N",
      order = 22,
      description =
          "multi_turn, agentic: length of the shared system prompt (default: 2000, agentic 12000).")
  private @Nullable String systemPromptTokens;

  @Option(
      names = "--think-time",
      paramLabel = "NAME",
      completionCandidates = Choices.ThinkTimes.class,
      defaultValue = "exponential",
      order = 23,
      description =
          "multi_turn: distribution of think times: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private String thinkTime;

  @Option(
      names = "--think-seconds",
      paramLabel = "X",
      defaultValue = "5",
      order = 24,
      description = "multi_turn: mean think time (default: ${DEFAULT-VALUE}).")
  private String thinkSeconds;

  @Option(
      names = "--think-sigma",
      paramLabel = "X",
      defaultValue = "1.0",
      order = 25,
      description = "multi_turn: sigma of a lognormal think time (default: ${DEFAULT-VALUE}).")
  private String thinkSigma;

  @Option(
      names = RAMP,
      paramLabel = "X",
      defaultValue = "0",
      order = 26,
      description =
          "Sessions with --concurrency: time over which the first sessions start"
              + " (default: ${DEFAULT-VALUE}, all at once).")
  private String rampSeconds;

  @Option(
      names = "--tool-tokens",
      paramLabel = "MIN-MAX",
      defaultValue = "200-8000",
      order = 27,
      description = "agentic: length of a tool's output (default: ${DEFAULT-VALUE}).")
  private String toolTokens;

  @Option(
      names = "--sub-agents",
      paramLabel = "MIN-MAX",
      defaultValue = "2-5",
      order = 28,
      description = "agentic: sub-agents of a session (default: ${DEFAULT-VALUE}).")
  private String subAgents;

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "2000",
      order = 29,
      description = "shared_prefix, uniform: number of requests (default: ${DEFAULT-VALUE}).")
  private String requests;

  @Option(
      names = "--prefixes",
      paramLabel = "N",
      defaultValue = "16",
      order = 30,
      description = "shared_prefix: number of prefixes (default: ${DEFAULT-VALUE}).")
  private String prefixes;

  @Option(
      names = "--prefix-tokens",
      paramLabel = "N",
      defaultValue = "2000",
      order = 31,
      description = "shared_prefix: length of a prefix (default: ${DEFAULT-VALUE}).")
  private String prefixTokens;

  @Option(
      names = "--prefix-skew",
      paramLabel = "X",
      defaultValue = "1.0",
      order = 32,
      description =
          "shared_prefix: Zipf exponent of prefixes; 0 for equal use (default: ${DEFAULT-VALUE}).")
  private String prefixSkew;

  @Option(
      names = "--user-tokens",
      paramLabel = "N",
      order = 33,
      description = "Median of the tokens that a request adds (default: 200, uniform 2000).")
  private @Nullable String userTokens;

  @Option(
      names = "--user-tokens-sigma",
      paramLabel = "X",
      defaultValue = "1.0",
      order = 34,
      description = "Sigma of that lognormal number (default: ${DEFAULT-VALUE}).")
  private String userTokensSigma;

  @Option(
      names = "--output-tokens",
      paramLabel = "MIN-MAX",
      defaultValue = "150-300",
      order = 35,
      description = "Tokens in an answer (default: ${DEFAULT-VALUE}).")
  private String outputTokens;

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
        ? new Starts.Closed(concurrency, Values.number(RAMP, rampSeconds, 0, MAX_RAMP_SECONDS))
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
            new ThinkTime(
                Values.choice(
                    "--think-time",
                    thinkTime,
                    List.of(ThinkTime.Distribution.values()),
                    ThinkTime.Distribution::id),
                Values.number("--think-seconds", thinkSeconds, 0, MAX_THINK_SECONDS),
                Values.number("--think-sigma", thinkSigma, 0, MAX_SIGMA)),
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
            Values.range("--tool-tokens", toolTokens, MAX_TOKENS),
            Values.range("--sub-agents", subAgents, MAX_SUB_AGENTS),
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
            shared ? Values.integer("--prefixes", prefixes, 1, MAX_REQUESTS) : 0,
            shared ? Values.integer("--prefix-tokens", prefixTokens, 1, MAX_TOKENS) : 0,
            shared ? Values.number("--prefix-skew", prefixSkew, 0, MAX_SKEW) : 0,
            userTokens(kind),
            answers(),
            perSecond,
            seed));
  }

  /** Number of requests of the shared_prefix or the uniform workload. */
  int requests() {
    return Values.integer("--requests", requests, 1, MAX_REQUESTS);
  }

  /** Number of sessions of the multi_turn or the agentic workload. */
  int sessions() {
    return Values.integer("--sessions", sessions, 1, MAX_SESSIONS);
  }

  private IntRange turns(Kind kind) {
    return Values.range("--turns", turns == null ? kind.turns : turns, MAX_TURNS);
  }

  private int systemPromptTokens(Kind kind) {
    String tokens =
        systemPromptTokens == null ? Integer.toString(kind.systemPromptTokens) : systemPromptTokens;
    return Values.integer("--system-prompt-tokens", tokens, 0, MAX_TOKENS);
  }

  private LognormalTokens userTokens(Kind kind) {
    String median = userTokens == null ? Integer.toString(kind.medianUserTokens) : userTokens;
    return new LognormalTokens(
        Values.integer("--user-tokens", median, 1, MAX_TOKENS),
        Values.number("--user-tokens-sigma", userTokensSigma, 0, MAX_SIGMA));
  }

  private IntRange answers() {
    return Values.range("--output-tokens", outputTokens, MAX_TOKENS);
  }
}
