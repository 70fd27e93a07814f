package io.kvasir.timing;

import java.util.Arrays;

/**
 * The work of one or more steps of a rank, as features of a {@link StepModel}: each is the time
 * that the model's prior expects for it, in milliseconds.
 *
 * <p>Not thread-safe.
 */
public final class StepWork {

  /*
   * The features. Before any observation the coefficients of DECODED_TOKENS and GROUP_TOKENS are 0,
   * the others 1. A step of decoding requests is two of them, because the prior may be far off in
   * one: what it takes without KV, and reading the KV.
   */
  static final int STEPS = 0;
  static final int TOKENS = 1;
  static final int PAIRS = 2;
  static final int DECODE_KV = 3;
  static final int DECODED_TOKENS = 4;
  static final int GROUP_TOKENS = 5;
  static final int DECODE_STEPS = 6;
  static final int SIZE = 7;

  private static final double[] FIRST = {1, 1, 1, 1, 0, 0, 1};

  private final StepTiming prior;
  final double[] priorMs = new double[SIZE];

  StepWork(StepTiming prior) {
    this.prior = prior;
  }

  /** Forgets all work. */
  public void clear() {
    Arrays.fill(priorMs, 0);
  }

  /** Whether it is prefill for the most part. */
  boolean isPrefill() {
    return priorMs[STEPS] + priorMs[TOKENS] + priorMs[PAIRS]
        > priorMs[DECODE_KV] + priorMs[DECODE_STEPS];
  }

  /** The coefficients before any observation. */
  static double[] firstCoefficients() {
    return FIRST.clone();
  }

  /**
   * Adds other work.
   *
   * @param work the work
   */
  public void add(StepWork work) {
    for (int i = 0; i < SIZE; i++) {
      priorMs[i] += work.priorMs[i];
    }
  }

  /**
   * Adds a prompt, or a part of one.
   *
   * @param tokens its tokens to compute
   * @param context its tokens before them
   */
  public void addPrompt(long tokens, long context) {
    addPrefill(tokens, tokens * (context + tokens / 2.0));
  }

  /**
   * Adds tokens to compute.
   *
   * @param tokens their number
   * @param attendedPairs pairs of such a token and one that it attends to
   */
  public void addPrefill(long tokens, double attendedPairs) {
    priorMs[TOKENS] += prior.promptTokenMs() * tokens;
    priorMs[PAIRS] += 2 * prior.prefillQuadratic() * attendedPairs;
  }

  /**
   * Adds steps with prefill.
   *
   * @param steps their number
   */
  public void addSteps(int steps) {
    priorMs[STEPS] += prior.promptStepMs() * steps;
  }

  /**
   * Adds steps in which requests decode.
   *
   * @param steps their number
   * @param kvTokens tokens whose KV the requests read in each of them
   */
  public void addDecoding(int steps, long kvTokens) {
    double ms = prior.decodeMs(kvTokens);
    double withoutKvMs = Math.min(ms, prior.decodeMs(0));
    priorMs[DECODE_STEPS] += steps * withoutKvMs;
    priorMs[DECODE_KV] += steps * (ms - withoutKvMs);
  }

  /**
   * The time of a step of decoding requests by the coefficients of a model.
   *
   * @param prior the model's prior
   * @param kvTokens tokens whose KV they read
   * @param ofSteps the coefficient of {@link #DECODE_STEPS}
   * @param ofKv that of {@link #DECODE_KV}
   */
  static double decodeMs(StepTiming prior, long kvTokens, double ofSteps, double ofKv) {
    double ms = prior.decodeMs(kvTokens);
    double withoutKvMs = Math.min(ms, prior.decodeMs(0));
    return ofSteps * withoutKvMs + ofKv * (ms - withoutKvMs);
  }

  /**
   * Adds tokens that share a step with others, in addition to their counts above.
   *
   * @param decoded tokens of decoding requests of the rank
   * @param group tokens of all ranks that step together, for each of these ranks
   */
  public void addTokens(long decoded, double group) {
    priorMs[DECODED_TOKENS] += prior.promptTokenMs() * decoded;
    priorMs[GROUP_TOKENS] += prior.promptTokenMs() * group;
  }
}
