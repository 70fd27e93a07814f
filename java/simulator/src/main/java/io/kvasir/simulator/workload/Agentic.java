package io.kvasir.simulator.workload;

import java.util.Map;
import java.util.stream.IntStream;

/**
 * Sessions of agents that call tools. A session begins with a user's task behind a system prompt
 * that all sessions share. Each further turn adds the output of a tool or, once in ten, a message
 * of the user. Once in a session, the agent starts sub-agents side by side; they share its system
 * prompt and task, take turns of their own, and the agent waits for all of them.
 *
 * <p>Gaps between an answer and the next turn are lognormal, with the location and sigma of log
 * seconds 2.28 and 1.34 after a tool, 0.69 and 1.13 in a sub-agent, and 4.82 and 1.25 before a
 * user's message. Immutable.
 *
 * @param shape its parameters
 */
public record Agentic(Shape shape) implements Workload {

  /** Turns of a sub-agent. */
  static final IntRange SUB_AGENT_TURNS = new IntRange(3, 12);

  /** Share of an agent's turns that a user writes. */
  static final double USER_SHARE = 0.1;

  /**
   * Parameters of the workload.
   *
   * <p>Immutable.
   *
   * @param sessions number of sessions, at least 1
   * @param starts when sessions begin
   * @param systemPromptTokens length of the shared system prompt, at least 0
   * @param turns turns of a session's agent
   * @param toolTokens length of a tool's output, uniform in its logarithm
   * @param subAgents sub-agents of a session
   * @param userTokens length of a user's message
   * @param outputTokens length of an answer
   * @param pace divides all gaps; above 0
   * @param seed seed of all random values
   */
  public record Shape(
      int sessions,
      Starts starts,
      int systemPromptTokens,
      IntRange turns,
      IntRange toolTokens,
      IntRange subAgents,
      LognormalTokens userTokens,
      IntRange outputTokens,
      double pace,
      long seed) {

    /** Request ids that each session has to itself. */
    long idsPerSession() {
      return turns.maximum() + (long) subAgents.maximum() * SUB_AGENT_TURNS.maximum();
    }
  }

  @Override
  public String name() {
    return "agentic";
  }

  @Override
  public Map<String, Object> parameters() {
    return Parameters.of(
        shape.starts().parameters(shape.sessions()),
        "systemPromptTokens",
        shape.systemPromptTokens(),
        "turns",
        shape.turns().toString(),
        "toolTokens",
        shape.toolTokens().toString(),
        "subAgents",
        shape.subAgents().toString(),
        "userTokens",
        shape.userTokens().median(),
        "userTokensSigma",
        shape.userTokens().sigma(),
        "outputTokens",
        shape.outputTokens().toString());
  }

  @Override
  public long plannedRequests() {
    return IntStream.range(0, shape.sessions())
        .mapToLong(index -> new AgenticSession(shape, index).requests())
        .sum();
  }

  @Override
  public Arrivals start(RequestPreparation preparation) {
    return new SessionRun(
        shape.sessions(),
        shape.starts(),
        shape.seed(),
        index -> new AgenticSession(shape, index),
        preparation);
  }
}
