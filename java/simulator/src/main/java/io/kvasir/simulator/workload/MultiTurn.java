package io.kvasir.simulator.workload;

import java.util.Map;
import java.util.stream.IntStream;

/**
 * Multi-turn sessions: each turn's prompt is the whole conversation so far, including the actual
 * answers, plus a new user turn. All sessions share one system prompt.
 *
 * <p>Immutable.
 *
 * @param shape its parameters
 */
public record MultiTurn(Shape shape) implements Workload {

  private static final double NS_PER_S = 1e9;

  /**
   * Parameters of the workload.
   *
   * <p>Immutable.
   *
   * @param sessions number of sessions, at least 1
   * @param concurrency sessions at a time, where a new one begins when another ends; 0 for an open
   *     loop
   * @param sessionsPerSecond mean starts of sessions per second in an open loop
   * @param systemPromptTokens length of the shared system prompt, at least 0
   * @param turns turns of a session
   * @param userTokens length of a user's turn
   * @param outputTokens length of an answer
   * @param thinkTime time between an answer and the session's next turn
   * @param rampSeconds time over which the first sessions of a closed loop begin, one after
   *     another; 0 to begin all at once
   * @param seed seed of all random values
   */
  public record Shape(
      int sessions,
      int concurrency,
      double sessionsPerSecond,
      int systemPromptTokens,
      IntRange turns,
      LognormalTokens userTokens,
      IntRange outputTokens,
      ThinkTime thinkTime,
      double rampSeconds,
      long seed) {

    /**
     * A shape whose first sessions all begin at once.
     *
     * @param sessions number of sessions
     * @param concurrency sessions at a time; 0 for an open loop
     * @param sessionsPerSecond mean starts of sessions per second in an open loop
     * @param systemPromptTokens length of the shared system prompt
     * @param turns turns of a session
     * @param userTokens length of a user's turn
     * @param outputTokens length of an answer
     * @param thinkTime time between an answer and the session's next turn
     * @param seed seed of all random values
     */
    public Shape(
        int sessions,
        int concurrency,
        double sessionsPerSecond,
        int systemPromptTokens,
        IntRange turns,
        LognormalTokens userTokens,
        IntRange outputTokens,
        ThinkTime thinkTime,
        long seed) {
      this(
          sessions,
          concurrency,
          sessionsPerSecond,
          systemPromptTokens,
          turns,
          userTokens,
          outputTokens,
          thinkTime,
          0,
          seed);
    }

    /** The start time of one of the first sessions of a closed loop, in nanoseconds. */
    long firstNs(int index) {
      return Math.round(index * (rampSeconds * NS_PER_S / Math.min(concurrency, sessions)));
    }
  }

  @Override
  public String name() {
    return "multi_turn";
  }

  @Override
  public Map<String, Object> parameters() {
    boolean closed = shape.concurrency() > 0;
    Map<String, Object> ramp =
        closed && shape.rampSeconds() > 0 ? Map.of("rampSeconds", shape.rampSeconds()) : Map.of();
    Map<String, Object> parameters =
        Parameters.of(
            ramp,
            "sessions",
            shape.sessions(),
            closed ? "concurrency" : "rate",
            closed ? (Object) shape.concurrency() : (Object) shape.sessionsPerSecond(),
            "systemPromptTokens",
            shape.systemPromptTokens(),
            "turns",
            shape.turns().toString(),
            "userTokens",
            shape.userTokens().median(),
            "userTokensSigma",
            shape.userTokens().sigma(),
            "outputTokens",
            shape.outputTokens().toString(),
            "thinkTime",
            shape.thinkTime().distribution().id(),
            "thinkSeconds",
            shape.thinkTime().meanSeconds());
    return shape.thinkTime().distribution() == ThinkTime.Distribution.LOGNORMAL
        ? Parameters.of(parameters, "thinkSigma", shape.thinkTime().sigma())
        : parameters;
  }

  @Override
  public long plannedRequests() {
    return IntStream.range(0, shape.sessions())
        .mapToLong(index -> new MultiTurnSession(shape, index).turns())
        .sum();
  }

  @Override
  public Arrivals start(RequestPreparation preparation) {
    return new MultiTurnRun(shape, preparation);
  }
}
