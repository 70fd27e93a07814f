package io.kvasir.timing;

import io.kvasir.model.Digest64;
import java.util.List;

/**
 * The times of ranks that step together, learned from their common steps. A step takes as long as
 * its slowest rank, so it is an observation of the rank that was expected to be the slowest, unless
 * another one was expected to take nearly as long.
 *
 * <p>Times are computed from rounded coefficients and speeds, so ranks of the same class have equal
 * times for equal work in spite of noise.
 *
 * <p>Not thread-safe. Equal steps in equal order give equal times on all machines.
 */
public final class GroupTiming {

  /** The first steps of a process are slower than those that follow. */
  private static final int WARM_UP_STEPS = 20;

  /** Steps that the prior is worth: few, because steps are exact and the prior may be far off. */
  private static final double PRIOR_WEIGHT = 1;

  /** Part of the slowest rank's time from which another one's is nearly as long. */
  private static final double NEAR_TIE = 0.9;

  /** Steps between two comparisons of the ranks' speeds with their median. */
  private static final int STEPS_PER_MEDIAN = 16;

  /**
   * Steps without an observation of a rank after which half of what is known of it is forgotten.
   */
  private static final int UNSEEN_STEPS = 4096;

  /** What coefficients are rounded to, and the logarithms of speeds. */
  private static final double COEFFICIENT_UNIT = 1.0 / 256;

  private static final double SPEED_UNIT = 0.05;

  private final StepTiming prior;
  private final StepModel model;
  private final RankSpeed[] speeds;
  private final List<RankSpeed> allSpeeds;
  private final StepWork[] work;
  private final long[] coefficientUnits = new long[StepWork.SIZE];
  private final long[] speedUnits;
  private final double[] factors;
  private final long[] seen;
  private long groupTokens;
  private long steps;

  /**
   * Begins with the times of a prior, equal for all ranks.
   *
   * @param prior the times
   * @param ranks number of ranks, at least 1
   */
  public GroupTiming(StepTiming prior, int ranks) {
    this.prior = prior;
    this.model = new StepModel(prior, PRIOR_WEIGHT);
    this.speeds = new RankSpeed[ranks];
    this.work = new StepWork[ranks];
    this.speedUnits = new long[ranks];
    this.factors = new double[ranks];
    this.seen = new long[ranks];
    for (int rank = 0; rank < ranks; rank++) {
      speeds[rank] = new RankSpeed();
      work[rank] = model.newWork();
      factors[rank] = 1;
    }
    this.allSpeeds = List.of(speeds);
    round();
  }

  private void round() {
    for (int i = 0; i < StepWork.SIZE; i++) {
      coefficientUnits[i] = Math.round(model.coefficient(i) / COEFFICIENT_UNIT);
    }
    for (int rank = 0; rank < speeds.length; rank++) {
      long units = Math.round(speeds[rank].location() / SPEED_UNIT);
      if (units != speedUnits[rank]) {
        speedUnits[rank] = units;
        factors[rank] = StrictMath.exp(units * SPEED_UNIT);
      }
    }
  }

  private double coefficient(int feature) {
    return coefficientUnits[feature] * COEFFICIENT_UNIT;
  }

  /**
   * How much longer a rank takes than the median one.
   *
   * @param rank its index
   * @return the factor
   */
  public double factor(int rank) {
    return factors[rank];
  }

  /**
   * The time to compute tokens in their own steps, without decoding requests, at speed 1.
   *
   * @param tokens their number
   * @param attendedPairs pairs of such a token and one that it attends to
   * @param steps number of steps
   * @return milliseconds
   */
  public double prefillMs(long tokens, double attendedPairs, long steps) {
    return coefficient(StepWork.PAIRS) * 2 * prior.prefillQuadratic() * attendedPairs
        + coefficient(StepWork.TOKENS) * prior.promptTokenMs() * tokens
        + coefficient(StepWork.STEPS) * prior.promptStepMs() * steps;
  }

  /**
   * The time that decoding takes in a step, at speed 1.
   *
   * @param requests number of decoding requests, at least 1
   * @param kvTokens tokens whose KV they read
   * @return milliseconds
   */
  public double decodeMs(int requests, long kvTokens) {
    return StepWork.decodeMs(
            prior, kvTokens, coefficient(StepWork.DECODE_STEPS), coefficient(StepWork.DECODE_KV))
        + coefficient(StepWork.DECODED_TOKENS) * prior.promptTokenMs() * requests;
  }

  /**
   * Notes what a rank does in the step in progress.
   *
   * @param rank its index
   * @param tokens tokens of prompts to compute
   * @param attendedPairs pairs of such a token and one that it attends to
   * @param decoding number of decoding requests
   * @param kvTokens tokens whose KV they read
   */
  public void add(int rank, long tokens, double attendedPairs, int decoding, long kvTokens) {
    if (tokens > 0) {
      work[rank].addSteps(1);
      work[rank].addPrefill(tokens, attendedPairs);
    }
    if (decoding > 0) {
      work[rank].addDecoding(1, kvTokens);
    }
    work[rank].addTokens(decoding, 0);
    groupTokens += tokens + decoding;
  }

  /**
   * Ends the step in progress and learns from it.
   *
   * @param ms its duration in milliseconds; 0 if it was not measured
   * @return the rank whose speed has changed for good, as far as the times show; -1 for none
   */
  public int end(double ms) {
    int slowest = 0;
    double longest = 0;
    double next = 0;
    for (int rank = 0; rank < work.length; rank++) {
      work[rank].addTokens(0, (double) groupTokens / work.length);
      double each = model.ms(work[rank]) * speeds[rank].factor();
      if (each > longest) {
        next = longest;
        longest = each;
        slowest = rank;
      } else {
        next = Math.max(next, each);
      }
    }
    boolean changed = false;
    if (ms > 0 && ++steps > WARM_UP_STEPS && longest > 0) {
      if (next < NEAR_TIE * longest) {
        changed = learn(slowest, ms);
        seen[slowest] = steps;
      } else {
        model.learnTogether(work[slowest], ms / speeds[slowest].factor());
      }
      if (steps % STEPS_PER_MEDIAN == 0) {
        relaxUnseen();
        model.centre(allSpeeds);
      }
      round();
    }
    groupTokens = 0;
    for (StepWork each : work) {
      each.clear();
    }
    return changed ? slowest : -1;
  }

  /** The only rank of a group has no speed: its speed and the coefficients cannot be separated. */
  private boolean learn(int rank, double ms) {
    StepModel.Outcome outcome =
        speeds.length == 1
            ? model.learn(work[rank], ms)
            : model.learn(work[rank], ms, speeds[rank]);
    return outcome == StepModel.Outcome.CHANGED;
  }

  /** A slow rank may be avoided so much that its recovery shows in no step. */
  private void relaxUnseen() {
    for (int rank = 0; rank < speeds.length; rank++) {
      if (steps - seen[rank] > UNSEEN_STEPS) {
        speeds[rank].relax();
        seen[rank] = steps;
      }
    }
  }

  /** {@return a digest of what times are computed from; O(ranks)} */
  public long digest() {
    long digest = Digest64.fold(Digest64.EMPTY, steps);
    for (long units : coefficientUnits) {
      digest = Digest64.fold(digest, units);
    }
    for (long units : speedUnits) {
      digest = Digest64.fold(digest, units);
    }
    return digest;
  }
}
