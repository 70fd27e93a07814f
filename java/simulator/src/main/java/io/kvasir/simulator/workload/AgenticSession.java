package io.kvasir.simulator.workload;

import io.kvasir.model.Request;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * One session of {@link Agentic}: the agent's dialogue, later those of its sub-agents. It waits
 * while they run. A rejected turn ends its dialogue, and the session if it is the agent's.
 *
 * <p>Not thread-safe.
 */
final class AgenticSession implements SessionScript {

  static final Gap TOOL_GAP = new Gap(2.28, 1.34);
  static final Gap USER_GAP = new Gap(4.82, 1.25);
  private static final Gap SUB_AGENT_GAP = new Gap(0.69, 1.13);

  private final Agentic.Shape shape;
  private final int index;
  private final SeededRandom random;
  private final int turns;
  private final int fanOutTurn;
  private final SubAgent[] subAgents;
  private final Map<Dialogue, SubAgent> running = new HashMap<>();
  private final Dialogue main;
  private boolean userIsNext = true;
  private boolean over;

  /** A lognormal time: location and deviation of the logarithm of its seconds. */
  record Gap(double location, double sigma) {

    private static final double NS_PER_S = 1e9;

    long drawNs(SeededRandom random, double pace) {
      double seconds = StrictMath.exp(location + sigma * random.nextGaussian());
      return Math.round(NS_PER_S / pace * seconds);
    }
  }

  /** The random numbers of a sub-agent and the number of its turns. */
  private record SubAgent(SeededRandom random, int turns) {}

  AgenticSession(Agentic.Shape shape, int index) {
    this.shape = shape;
    this.index = index;
    int most = shape.subAgents().maximum();
    long stream = index * (1L + most);
    this.random = SeededRandom.of(shape.seed(), stream);
    this.turns = random.nextInt(shape.turns());
    this.subAgents = new SubAgent[random.nextInt(shape.subAgents())];
    this.fanOutTurn = random.nextInt(new IntRange(1, Math.max(1, turns - 1)));
    for (int i = 0; i < subAgents.length; i++) {
      SeededRandom own = SeededRandom.of(shape.seed(), stream + 1 + i);
      subAgents[i] = new SubAgent(own, own.nextInt(Agentic.SUB_AGENT_TURNS));
    }
    int[] head = MultiTurnSession.systemPrompt(shape.systemPromptTokens(), shape.seed());
    this.main = new Dialogue(this, "s" + index, index * shape.idsPerSession(), head, 0);
  }

  /** Number of requests if none is rejected. */
  int requests() {
    int sum = turns;
    for (SubAgent subAgent : fansOut() ? subAgents : new SubAgent[0]) {
      sum += subAgent.turns();
    }
    return sum;
  }

  /** Whether there is a turn behind the one after which sub-agents start. */
  private boolean fansOut() {
    return fanOutTurn < turns;
  }

  @Override
  public void begin(long nowNs, Schedule schedule) {
    schedule.ask(main, nowNs);
  }

  @Override
  public Request ask(Dialogue dialogue) {
    SubAgent subAgent = running.get(dialogue);
    SeededRandom numbers = subAgent == null ? random : subAgent.random();
    boolean userAsks = subAgent == null ? userIsNext : dialogue.asked() == 0;
    int tokens =
        userAsks ? shape.userTokens().draw(numbers) : numbers.nextLogUniform(shape.toolTokens());
    if (subAgent == null) {
      userIsNext = random.nextDouble() < Agentic.USER_SHARE;
    }
    return dialogue.ask(shape.seed(), tokens, numbers.nextInt(shape.outputTokens()));
  }

  @Override
  public void answered(Dialogue dialogue, int[] outputTokens, long nowNs, Schedule schedule) {
    SubAgent subAgent = running.get(dialogue);
    dialogue.answered(outputTokens);
    if (subAgent != null) {
      if (dialogue.asked() < subAgent.turns()) {
        schedule.ask(
            dialogue, Math.addExact(nowNs, SUB_AGENT_GAP.drawNs(subAgent.random(), shape.pace())));
      } else {
        ended(dialogue, nowNs, schedule);
      }
    } else if (dialogue.asked() == turns) {
      over = true;
    } else if (dialogue.asked() == fanOutTurn) {
      fanOut(nowNs, schedule);
    } else {
      Gap gap = userIsNext ? USER_GAP : TOOL_GAP;
      schedule.ask(dialogue, Math.addExact(nowNs, gap.drawNs(random, shape.pace())));
    }
  }

  /** Starts the sub-agents, each behind the agent's first prompt. */
  private void fanOut(long nowNs, Schedule schedule) {
    for (int i = 0; i < subAgents.length; i++) {
      long firstId =
          main.firstId() + shape.turns().maximum() + (long) i * Agentic.SUB_AGENT_TURNS.maximum();
      int[] head = Arrays.copyOf(main.history(), main.firstPrompt());
      Dialogue dialogue =
          new Dialogue(this, "s" + index + "." + (i + 1), firstId, head, head.length);
      running.put(dialogue, subAgents[i]);
      schedule.ask(
          dialogue,
          Math.addExact(nowNs, SUB_AGENT_GAP.drawNs(subAgents[i].random(), shape.pace())));
    }
  }

  /** A sub-agent is done; after the last of them, the agent reads what they found. */
  private void ended(Dialogue subAgent, long nowNs, Schedule schedule) {
    running.remove(subAgent);
    if (running.isEmpty()) {
      userIsNext = false;
      schedule.ask(main, nowNs);
    }
  }

  @Override
  public void rejected(Dialogue dialogue, long nowNs, Schedule schedule) {
    if (running.containsKey(dialogue)) {
      ended(dialogue, nowNs, schedule);
    } else {
      over = true;
    }
  }

  @Override
  public boolean over() {
    return over;
  }
}
