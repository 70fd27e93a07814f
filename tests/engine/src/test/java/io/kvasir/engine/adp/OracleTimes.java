package io.kvasir.engine.adp;

import io.kvasir.timing.StepTiming;

/** The times of prefills, and the steps that they take. */
final class OracleTimes {

  private final StepTiming timing;
  private final int maxNumTokens;

  OracleTimes(StepTiming timing, int maxNumTokens) {
    this.timing = timing;
    this.maxNumTokens = maxNumTokens;
  }

  double prefillMs(long tokens, double pairs) {
    return timing.prefillQuadratic() * 2 * pairs
        + timing.prefillLinear() * tokens
        + timing.prefillConstantMs() * wholeSteps(tokens);
  }

  double decodeMs(long kvTokens) {
    return timing.decodeMs(kvTokens);
  }

  /** The time of tokens, but for attention and steps. */
  double linearMs(double tokens) {
    return tokens * timing.prefillLinear();
  }

  /** The steps of a queue, as far as they are looked at. */
  int steps(long tokens) {
    return (int) Math.min(32, wholeSteps(tokens));
  }

  private long wholeSteps(long tokens) {
    return tokens / maxNumTokens + (tokens % maxNumTokens == 0 ? 0 : 1);
  }

  static double pairs(long context, long tokens) {
    return tokens * (context + tokens / 2.0);
  }
}
