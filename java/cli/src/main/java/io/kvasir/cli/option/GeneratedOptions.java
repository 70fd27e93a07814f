package io.kvasir.cli.option;

import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.ThinkTime;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import picocli.CommandLine.Option;

/** Options of what a generated workload consists of. */
public final class GeneratedOptions {

  private static final int MOST_SESSIONS = 1_000_000;
  private static final int MOST_REQUESTS = 10_000_000;
  private static final int MOST_TURNS = 1000;
  private static final int MOST_TOKENS = 1 << 20;
  private static final double MOST_THINK_SECONDS = 1e6;
  private static final double MOST_RAMP_SECONDS = 1e6;
  private static final double MOST_SIGMA = 5;
  private static final double MOST_SKEW = 10;

  /** The generated workloads, by the names of --workload. */
  enum Kind {
    MULTI_TURN(200),
    SHARED_PREFIX(200),
    UNIFORM(2000);

    static final List<Kind> ALL = List.of(values());

    private final int medianUserTokens;

    Kind(int medianUserTokens) {
      this.medianUserTokens = medianUserTokens;
    }

    String id() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether an option of this class means something for this workload. */
    boolean has(String option) {
      return KINDS.get(option).contains(this);
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
      description = "multi_turn: turns of a session (default: ${DEFAULT-VALUE}).")
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
      defaultValue = "exponential",
      order = 23,
      description =
          "multi_turn: time between an answer and the next turn, exponential or lognormal"
              + " (default: ${DEFAULT-VALUE}).")
  private String thinkTime;

  @Option(
      names = "--think-seconds",
      paramLabel = "X",
      defaultValue = "5",
      order = 24,
      description = "multi_turn: mean of that time (default: ${DEFAULT-VALUE}).")
  private String thinkSeconds;

  @Option(
      names = "--think-sigma",
      paramLabel = "X",
      defaultValue = "1.0",
      order = 25,
      description = "multi_turn: sigma of a lognormal time (default: ${DEFAULT-VALUE}).")
  private String thinkSigma;

  @Option(
      names = RAMP,
      paramLabel = "X",
      defaultValue = "0",
      order = 26,
      description =
          "multi_turn with --concurrency: the first sessions begin one after the other over this"
              + " time (default: ${DEFAULT-VALUE}, all at once).")
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
          "shared_prefix: Zipf exponent of the prefixes' popularity, 0 for equal"
              + " (default: ${DEFAULT-VALUE}).")
  private String prefixSkew;

  @Option(
      names = "--user-tokens",
      paramLabel = "N",
      order = 31,
      description =
          "Median of the lognormal number of tokens that are a request's own (default: 200, uniform"
              + " 2000).")
  private String userTokens;

  @Option(
      names = "--user-tokens-sigma",
      paramLabel = "X",
      defaultValue = "1.0",
      order = 32,
      description = "Sigma of that number (default: ${DEFAULT-VALUE}).")
  private String userTokensSigma;

  @Option(
      names = "--output-tokens",
      paramLabel = "MIN-MAX",
      defaultValue = "150-300",
      order = 33,
      description = "Tokens of an answer (default: ${DEFAULT-VALUE}).")
  private String outputTokens;

  /** Refuses options that stand on the command line but mean nothing for what is replayed. */
  void refuseAllBut(String replayed, Predicate<String> meant, Predicate<String> given) {
    KINDS.keySet().stream()
        .sorted()
        .filter(option -> given.test(option) && !meant.test(option))
        .findFirst()
        .ifPresent(
            option -> {
              throw new UsageException(option, "means nothing for " + replayed);
            });
  }

  /** The multi_turn workload; closed with a concurrency, open with a rate. */
  MultiTurn multiTurn(double sessionsPerSecond, int concurrency, long seed) {
    return new MultiTurn(
        new MultiTurn.Shape(
            Values.integer("--sessions", sessions, 1, MOST_SESSIONS),
            concurrency,
            sessionsPerSecond,
            Values.integer("--system-prompt-tokens", systemPromptTokens, 0, MOST_TOKENS),
            Values.range("--turns", turns, MOST_TURNS),
            userTokens(Kind.MULTI_TURN),
            answers(),
            new ThinkTime(
                Values.choice(
                    "--think-time",
                    thinkTime,
                    List.of(ThinkTime.Distribution.values()),
                    ThinkTime.Distribution::id),
                Values.number("--think-seconds", thinkSeconds, 0, MOST_THINK_SECONDS),
                Values.number("--think-sigma", thinkSigma, 0, MOST_SIGMA)),
            Values.number(RAMP, rampSeconds, 0, MOST_RAMP_SECONDS),
            seed));
  }

  /** The shared_prefix or the uniform workload. */
  RequestSequence sequence(Kind kind, double perSecond, long seed) {
    boolean shared = kind == Kind.SHARED_PREFIX;
    return new SharedPrefix(
        new SharedPrefix.Shape(
            requests(),
            shared ? Values.integer("--prefixes", prefixes, 1, MOST_REQUESTS) : 0,
            shared ? Values.integer("--prefix-tokens", prefixTokens, 1, MOST_TOKENS) : 0,
            shared ? Values.number("--prefix-skew", prefixSkew, 0, MOST_SKEW) : 0,
            userTokens(kind),
            answers(),
            perSecond,
            seed));
  }

  /** Requests of the shared_prefix or the uniform workload. */
  int requests() {
    return Values.integer("--requests", requests, 1, MOST_REQUESTS);
  }

  private LognormalTokens userTokens(Kind kind) {
    String median = userTokens == null ? Integer.toString(kind.medianUserTokens) : userTokens;
    return new LognormalTokens(
        Values.integer("--user-tokens", median, 1, MOST_TOKENS),
        Values.number("--user-tokens-sigma", userTokensSigma, 0, MOST_SIGMA));
  }

  private IntRange answers() {
    return Values.range("--output-tokens", outputTokens, MOST_TOKENS);
  }
}
