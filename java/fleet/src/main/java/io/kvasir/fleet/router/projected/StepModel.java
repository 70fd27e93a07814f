package io.kvasir.fleet.router.projected;

import java.util.Arrays;

/**
 * The time that an engine needs for prompts and for tokens, fitted to what is observed.
 *
 * <p>A rank of speed s takes {@code s (w0 x steps + w1 x new tokens + w2 x attended pairs + w3 x
 * steps of decoding)} milliseconds: the coefficients are those of all ranks, the speed is its own.
 * Before any observation they are the published ones of NVIDIA Dynamo's mocker engine, and speeds
 * are 1.
 *
 * <p>Not thread-safe.
 */
final class StepModel {

  private static final int SIZE = 4;

  /* Milliseconds: a step with prefill; a new token; a pair of a token and one that it attends to. */
  private static final double STEP_MS = 16.50142;
  private static final double TOKEN_MS = 1.518344e-2;
  private static final double PAIR_MS = 2 * 4.209989e-7;

  /* A step that decodes: 1 ms at least, else a polynomial in KV tokens / 2^20, at most 1. */
  private static final double DECODE_QUADRATIC_MS = -25.74;
  private static final double DECODE_LINEAR_MS = 54.01;
  private static final double DECODE_CONSTANT_MS = 5.74;
  private static final double DECODE_KV_TOKENS = 1 << 20;

  /** Observations that the published coefficients are worth. */
  private static final double PRIOR_WEIGHT = 4;

  private static final double FORGETTING = 0.998;

  /** A residual beyond this many typical ones counts as that many. */
  private static final double MOST_DEVIATIONS = 2.5;

  private static final double DEVIATION_STEP = 1.0 / 64;
  private static final double FIRST_DEVIATION = 0.3;

  private final LeastSquares fit = new LeastSquares(SIZE, PRIOR_WEIGHT, FORGETTING);
  private final double[] shares = new double[SIZE];
  private double deviation = FIRST_DEVIATION;

  /** Features of some work, in milliseconds of the prior. */
  static final class Work {
    private final double[] priorMs = new double[SIZE];

    /** Forgets all work. */
    void clear() {
      Arrays.fill(priorMs, 0);
    }

    /**
     * Adds a prompt.
     *
     * @param uncached its tokens to compute
     * @param context its tokens that need not be computed
     */
    void addPrompt(long uncached, long context) {
      priorMs[1] += TOKEN_MS * uncached;
      priorMs[2] += PAIR_MS * uncached * (context + uncached / 2.0);
    }

    /**
     * Adds steps with prefill, in which requests decode too.
     *
     * @param steps number of steps
     * @param decoding requests that decode
     * @param kvTokens tokens whose KV they read
     */
    void addSteps(int steps, int decoding, long kvTokens) {
      priorMs[0] += STEP_MS * steps;
      priorMs[3] += decoding == 0 ? 0 : steps * decodeMs(kvTokens);
    }

    /** Adds a step without prefill. */
    void addDecoding(long kvTokens) {
      priorMs[3] += decodeMs(kvTokens);
    }
  }

  private static double decodeMs(long kvTokens) {
    double p = Math.min(1, kvTokens / DECODE_KV_TOKENS);
    return Math.max(1, DECODE_QUADRATIC_MS * p * p + DECODE_LINEAR_MS * p + DECODE_CONSTANT_MS);
  }

  /** The time of some work at speed 1, in milliseconds. */
  double ms(Work work) {
    double ms = 0;
    for (int i = 0; i < SIZE; i++) {
      ms += fit.coefficient(i) * work.priorMs[i];
    }
    return ms;
  }

  /** The time to compute a prompt in its own steps, without decoding requests, at speed 1. */
  double promptMs(long uncached, long context, int steps) {
    return fit.coefficient(0) * STEP_MS * steps
        + fit.coefficient(1) * TOKEN_MS * uncached
        + fit.coefficient(2) * PAIR_MS * uncached * (context + uncached / 2.0);
  }

  /** The time of a decode step at speed 1. */
  double stepMs(long kvTokens) {
    return fit.coefficient(3) * decodeMs(kvTokens);
  }

  /**
   * Learns from the time that some work took.
   *
   * @param work the work
   * @param ms its time, in milliseconds
   * @param speed the rank's
   * @return whether that speed has changed for good
   */
  boolean learn(Work work, double ms, RankSpeed speed) {
    double predicted = ms(work);
    if (!(predicted > 0) || !(ms > 0)) {
      return false;
    }
    double residual = StrictMath.log(ms / (predicted * speed.factor()));
    double most = MOST_DEVIATIONS * deviation;
    double kept = Math.max(-most, Math.min(most, residual));
    deviation += (Math.abs(kept) * 1.4826 - deviation) * DEVIATION_STEP;
    boolean changed = speed.learn(kept, deviation);
    for (int i = 0; i < SIZE; i++) {
      shares[i] = work.priorMs[i] / predicted;
    }
    fit.learn(shares, StrictMath.exp(kept));
    return changed;
  }
}
