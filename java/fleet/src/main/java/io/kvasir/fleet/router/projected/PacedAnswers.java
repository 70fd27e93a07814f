package io.kvasir.fleet.router.projected;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The answers on one rank with a target for the time between their tokens.
 *
 * <p>Not thread-safe.
 */
final class PacedAnswers {

  private static final double NS_PER_MS = 1e6;

  private final Set<Attempt> answers = new LinkedHashSet<>();
  private final ForecastInterval interval;

  /**
   * Begins without answers.
   *
   * @param interval how likely a time is to be within a target
   */
  PacedAnswers(ForecastInterval interval) {
    this.interval = interval;
  }

  boolean isEmpty() {
    return answers.isEmpty();
  }

  /** An answer has begun; one without a target is ignored. */
  void add(Attempt attempt) {
    if (attempt.streaming && attempt.tpotMs < Double.POSITIVE_INFINITY) {
      answers.add(attempt);
    }
  }

  void remove(Attempt attempt) {
    answers.remove(attempt);
  }

  /**
   * What computing a prompt takes from the answers: the sum of the likelihoods to meet their
   * targets before, less that after. O(answers).
   *
   * @param ms the time to compute the prompt
   * @param paceMs the expected time between tokens without it
   * @param nowNs the time
   */
  double lost(double ms, double paceMs, long nowNs) {
    double lost = 0;
    for (Attempt attempt : answers) {
      double all = Math.max(attempt.streamedTokens + 1.0, attempt.outputTokens);
      double elapsedMs = (nowNs - attempt.firstNs) / NS_PER_MS;
      double meanMs = (elapsedMs + (all - attempt.streamedTokens) * paceMs) / all;
      lost +=
          interval.likelihood(meanMs, attempt.tpotMs)
              - interval.likelihood(meanMs + ms / all, attempt.tpotMs);
    }
    return lost;
  }
}
