package io.kvasir.engine.execute;

import io.kvasir.model.Checks;
import io.kvasir.timing.StepTiming;

/**
 * Models the duration of steps and generates synthetic tokens; it has no KV.
 *
 * <p>A step takes as long as {@link StepTiming#stepMs} says. A decoding request reads the KV of its
 * whole sequence, including the token of this step. Output tokens are a pure function of request id
 * and output index, so an answer does not depend on where and when its request ran. O(entries),
 * without allocation.
 *
 * <p>Stateless and thread-safe; ranks may share it.
 */
public final class TimedStepEngine implements StepEngine {

  /** Default size of the synthetic vocabulary. */
  public static final int DEFAULT_VOCABULARY = 128_000;

  private static final double NANOS_PER_MILLI = 1e6;

  private final StepTiming timing;
  private final int vocabulary;

  /**
   * Creates an engine with a vocabulary of {@link #DEFAULT_VOCABULARY} tokens.
   *
   * @param timing the time model
   */
  public TimedStepEngine(StepTiming timing) {
    this(timing, DEFAULT_VOCABULARY);
  }

  /**
   * Creates an engine.
   *
   * @param timing the time model
   * @param vocabulary size of the vocabulary; token ids are below it
   * @throws IllegalArgumentException if {@code vocabulary} is less than 1
   */
  public TimedStepEngine(StepTiming timing, int vocabulary) {
    Checks.atLeast("vocabulary", vocabulary, 1);
    this.timing = timing;
    this.vocabulary = vocabulary;
  }

  @Override
  public long step(StepPlan plan) {
    for (int i = 0; i < plan.size(); i++) {
      if (plan.producesToken(i)) {
        plan.produce(i, outputToken(plan.requestId(i), plan.outputIndex(i)));
      }
    }
    double ms =
        timing.stepMs(
            plan.attendedPairs(),
            plan.prefillTokens(),
            plan.decodingRequests(),
            plan.decodeKvTokens());
    return Math.round(ms * NANOS_PER_MILLI);
  }

  /**
   * The token that a request produces at one position of its output. O(1).
   *
   * @param requestId the request's id
   * @param outputIndex the position, from 0
   * @return a token id below the vocabulary's size
   */
  public int outputToken(long requestId, int outputIndex) {
    long bits = Mix64.mix(Mix64.mix(requestId + Mix64.GOLDEN) + Mix64.GOLDEN * outputIndex);
    return Mix64.below(bits, vocabulary);
  }
}
