package io.kvasir.embedded.ranks;

import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.StepPlan;
import java.util.function.LongFunction;

/**
 * Computes steps in modelled time and produces the tokens of the sequences' answers. Equal prompts
 * thus put equal tokens into the pools.
 *
 * <p>Confined to the loop's thread; ranks share it. O(entries).
 */
final class WordStepEngine implements StepEngine {

  private final StepEngine timed;
  private final LongFunction<Answer> answers;

  /**
   * Creates an engine.
   *
   * @param timed the time model
   * @param answers finds the answer of a request in flight by the request's id
   */
  WordStepEngine(StepEngine timed, LongFunction<Answer> answers) {
    this.timed = timed;
    this.answers = answers;
  }

  @Override
  public long step(StepPlan plan) {
    long durationNs = timed.step(plan);
    for (int i = 0; i < plan.size(); i++) {
      if (plan.producesToken(i)) {
        plan.produce(i, answers.apply(plan.requestId(i)).token(plan.outputIndex(i)));
      }
    }
    return durationNs;
  }
}
