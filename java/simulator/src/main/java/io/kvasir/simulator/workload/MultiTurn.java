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

  @Override
  public String name() {
    return "multi_turn";
  }

  @Override
  public Map<String, Object> parameters() {
    Map<String, Object> parameters =
        Parameters.of(
            shape.starts().parameters(shape.sessions()),
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
    return new SessionRun(
        shape.sessions(),
        shape.starts(),
        shape.seed(),
        index -> new MultiTurnSession(shape, index),
        preparation);
  }
}
