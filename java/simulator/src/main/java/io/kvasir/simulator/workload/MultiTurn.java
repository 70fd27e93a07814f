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
   * @param starts when sessions begin
   * @param systemPromptTokens length of the shared system prompt, at least 0
   * @param turns turns of a session
   * @param userTokens length of a user's turn
   * @param outputTokens length of an answer
   * @param thinkTime time between an answer and the session's next turn
   * @param seed seed of all random values
   */
  public record Shape(
      int sessions,
      Starts starts,
      int systemPromptTokens,
      IntRange turns,
      LognormalTokens userTokens,
      IntRange outputTokens,
      ThinkTime thinkTime,
      long seed) {}

  /** When sessions begin. Immutable. */
  public sealed interface Starts {

    /**
     * {@return the start times, in nanoseconds, of the sessions that do not wait for another's end}
     *
     * @param sessions number of sessions
     * @param seed seed of random times
     */
    long[] firstNs(int sessions, long seed);
  }

  /**
   * An open loop: sessions begin at random times.
   *
   * @param perSecond mean starts of sessions per second
   */
  public record Open(double perSecond) implements Starts {
    @Override
    public long[] firstNs(int sessions, long seed) {
      return PoissonTimes.draw(sessions, perSecond, Content.ARRIVAL_TIMES.seed(seed, 0));
    }
  }

  /**
   * A closed loop: a session begins when another ends.
   *
   * @param concurrency sessions at a time, at least 1
   * @param rampSeconds time over which the first sessions begin, one after another; 0 to begin all
   *     at once
   */
  public record Closed(int concurrency, double rampSeconds) implements Starts {
    @Override
    public long[] firstNs(int sessions, long seed) {
      int first = Math.min(concurrency, sessions);
      double stepNs = rampSeconds * NS_PER_S / first;
      return IntStream.range(0, first).mapToLong(index -> Math.round(index * stepNs)).toArray();
    }
  }

  @Override
  public String name() {
    return "multi_turn";
  }

  @Override
  public Map<String, Object> parameters() {
    Map<String, Object> parameters =
        Parameters.of(
            startParameters(),
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

  private Map<String, Object> startParameters() {
    if (shape.starts() instanceof Closed loop) {
      Map<String, Object> ramp =
          loop.rampSeconds() > 0 ? Map.of("rampSeconds", loop.rampSeconds()) : Map.of();
      return Parameters.of(ramp, "sessions", shape.sessions(), "concurrency", loop.concurrency());
    }
    double rate = ((Open) shape.starts()).perSecond();
    return Parameters.of(Map.of(), "sessions", shape.sessions(), "rate", rate);
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
