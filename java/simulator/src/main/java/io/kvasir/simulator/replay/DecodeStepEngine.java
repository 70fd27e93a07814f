package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.StepPlan;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.timing.StepTiming;
import java.util.function.LongPredicate;

/**
 * Models the steps of a decode rank as {@link TimedStepEngine} does, except for the first step of a
 * request whose KV has come: the pool has names for full blocks only, so the executor computes the
 * last block again, but the KV of the whole prompt has come, and the step costs what a decode step
 * costs.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class DecodeStepEngine implements StepEngine {

  private static final double NANOS_PER_MILLI = 1e6;

  private final StepTiming timing;
  private final TimedStepEngine tokens;
  private final int tokensPerBlock;
  private final LongPredicate arrived;

  /** {@code arrived} states for a request's id whether its KV has come. */
  DecodeStepEngine(StepTiming timing, int tokensPerBlock, LongPredicate arrived) {
    this.timing = timing;
    this.tokens = new TimedStepEngine(timing);
    this.tokensPerBlock = tokensPerBlock;
    this.arrived = arrived;
  }

  /** Whether an entry of a step is the first one of a request whose KV has come. */
  boolean hasKv(StepPlan plan, int i) {
    return !plan.decodes(i)
        && plan.newTokens(i) <= tokensPerBlock
        && arrived.test(plan.requestId(i));
  }

  @Override
  public long step(StepPlan plan) {
    long prefillTokens = plan.prefillTokens();
    double pairs = plan.attendedPairs();
    long kvTokens = plan.decodeKvTokens();
    int decoding = plan.decodingRequests();
    for (int i = 0; i < plan.size(); i++) {
      if (plan.producesToken(i)) {
        plan.produce(i, tokens.outputToken(plan.requestId(i), plan.outputIndex(i)));
      }
      if (hasKv(plan, i)) {
        int own = plan.newTokens(i);
        prefillTokens -= own;
        pairs -= RankWork.attendedPairs(plan.contextTokens(i), own);
        kvTokens += plan.contextTokens(i) + own;
        decoding++;
      }
    }
    return Math.round(timing.stepMs(pairs, prefillTokens, decoding, kvTokens) * NANOS_PER_MILLI);
  }
}
