package io.kvasir.simulator.workload;

import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;

/**
 * One session of {@link MultiTurn}: one dialogue and its own stream of random numbers. A rejected
 * turn ends it.
 *
 * <p>Not thread-safe.
 */
final class MultiTurnSession implements SessionScript {

  private final MultiTurn.Shape shape;
  private final int index;
  private final SeededRandom random;
  private final int turns;
  private boolean over;

  MultiTurnSession(MultiTurn.Shape shape, int index) {
    this.shape = shape;
    this.index = index;
    this.random = SeededRandom.of(shape.seed(), index);
    this.turns = random.nextInt(shape.turns());
  }

  int turns() {
    return turns;
  }

  /** The prompt that begins every session of a workload. */
  static int[] systemPrompt(int tokens, long seed) {
    int[] prompt = new int[tokens];
    TokenExpansion.fill(Content.SYSTEM_PROMPT.seed(seed, 0), prompt, 0, tokens);
    return prompt;
  }

  @Override
  public void begin(long nowNs, Schedule schedule) {
    long firstId = (long) index * shape.turns().maximum();
    int[] head = systemPrompt(shape.systemPromptTokens(), shape.seed());
    schedule.ask(new Dialogue(this, "s" + index, firstId, head, 0), nowNs);
  }

  @Override
  public Request ask(Dialogue dialogue) {
    int userTokens = shape.userTokens().draw(random);
    return dialogue.ask(shape.seed(), userTokens, random.nextInt(shape.outputTokens()));
  }

  @Override
  public void answered(Dialogue dialogue, int[] outputTokens, long nowNs, Schedule schedule) {
    dialogue.answered(outputTokens);
    over = dialogue.asked() == turns;
    if (!over) {
      schedule.ask(dialogue, Math.addExact(nowNs, shape.thinkTime().drawNs(random)));
    }
  }

  @Override
  public void rejected(Dialogue dialogue, long nowNs, Schedule schedule) {
    over = true;
  }

  @Override
  public boolean over() {
    return over;
  }
}
