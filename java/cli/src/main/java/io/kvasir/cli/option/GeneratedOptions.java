package io.kvasir.cli.option;

import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.SharedPrefix;
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
  private static final int MAX_TOKENS = 1 << 20;
  private static final double MAX_THINK_SECONDS = 1e6;
  private static final double MAX_RAMP_SECONDS = 1e6;
  private static final double MAX_SIGMA = 5;
  private static final double MAX_SKEW = 10;

  /** The generated workloads. */
  enum Kind {
    MULTI_TURN(200),
    SHARED_PREFIX(200),
    UNIFORM(2000);

    private final int medianUserTokens;

    Kind(int medianUserTokens) {
      this.medianUserTokens = medianUserTokens;
    }

    /** Whether an option of this class applies to this workload. */
    boolean has(String option) {
      return KINDS.getOrDefault(option, Set.of()).contains(this);
    }
  }

  static final String RAMP = "--ramp-seconds";

  private static final Map<String, Set<Kind>> KINDS =
      Map.ofEntries(
          Map.entry("--sessions", Set.of(Kind.MULTI_TURN)),
          Map.entry("--system-prompt-tokens", Set.of(Kind.MULTI_TURN)),
          Map.entry("--turns", Set.of(Kind.MULTI_TURN)),
          Map.entry("--think-seconds", Set.of(Kind.MULTI_TURN)),
          Map.entry("--think-time", Set.of(Kind.MULTI_TURN)),
          Map.entry("--think-sigma", Set.of(Kind.MULTI_TURN)),
          Map.entry(RAMP, Set.of(Kind.MULTI_TURN)),
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
      description = "multi_turn: number of sessions (default: ${DEFAULT-VALUE}).")
  private String sessions;

  @Option(
      names = "--turns",
      paramLabel = "MIN-MAX",
      defaultValue = "3-8",
      order = 21,
      description = "multi_turn: turns in a session (default: ${DEFAULT-VALUE}).")
  private String turns;

  @Option(
      names = "--system-prompt-tokens",
      paramLabel = "N",
      defaultValue = "2000",
      order = 22,
      description = "multi_turn: length of the shared system prompt (default: ${DEFAULT-VALUE}).")
  private String systemPromptTokens;

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
          "multi_turn with --concurrency: time over which the first sessions start"
              + " (default: ${DEFAULT-VALUE}, all at once).")
  private String rampSeconds;

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "2000",
      order = 27,
      description = "shared_prefix, uniform: number of requests (default: ${DEFAULT-VALUE}).")
  private String requests;

  @Option(
      names = "--prefixes",
      paramLabel = "N",
      defaultValue = "16",
      order = 28,
      description = "shared_prefix: number of prefixes (default: ${DEFAULT-VALUE}).")
  private String prefixes;

  @Option(
      names = "--prefix-tokens",
      paramLabel = "N",
      defaultValue = "2000",
      order = 29,
      description = "shared_prefix: length of a prefix (default: ${DEFAULT-VALUE}).")
  private String prefixTokens;

  @Option(
      names = "--prefix-skew",
      paramLabel = "X",
      defaultValue = "1.0",
      order = 30,
      description =
          "shared_prefix: Zipf exponent of prefixes; 0 for equal use (default: ${DEFAULT-VALUE}).")
  private String prefixSkew;

  @Option(
      names = "--user-tokens",
      paramLabel = "N",
      order = 31,
      description = "Median of the tokens that a request adds (default: 200, uniform 2000).")
  private @Nullable String userTokens;

  @Option(
      names = "--user-tokens-sigma",
      paramLabel = "X",
      defaultValue = "1.0",
      order = 32,
      description = "Sigma of that lognormal number (default: ${DEFAULT-VALUE}).")
  private String userTokensSigma;

  @Option(
      names = "--output-tokens",
      paramLabel = "MIN-MAX",
      defaultValue = "150-300",
      order = 33,
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

  /** The multi_turn workload: closed if the rate is 0, open if the concurrency is 0. */
  MultiTurn multiTurn(double sessionsPerSecond, int concurrency, long seed) {
    double ramp = Values.number(RAMP, rampSeconds, 0, MAX_RAMP_SECONDS);
    return new MultiTurn(
        new MultiTurn.Shape(
            Values.integer("--sessions", sessions, 1, MAX_SESSIONS),
            concurrency > 0
                ? new MultiTurn.Closed(concurrency, ramp)
                : new MultiTurn.Open(sessionsPerSecond),
            Values.integer("--system-prompt-tokens", systemPromptTokens, 0, MAX_TOKENS),
            Values.range("--turns", turns, MAX_TURNS),
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
