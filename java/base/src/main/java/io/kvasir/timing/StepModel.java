package io.kvasir.timing;

import java.util.List;

/**
 * The time that one engine, or the ranks of a group that steps together, need for their steps,
 * fitted to observed times.
 *
 * <p>Work x of {@link StepWork} takes {@code w . x} milliseconds, for a rank of a group {@code s (w
 * . x)}: the coefficients w belong to all ranks, the speed s to one. Before any observation the
 * times are those of a {@link StepTiming}, and speeds are 1. Coefficients stay within 1/50 and 50
 * times those of the prior.
 *
 * <p>Not thread-safe. Equal observations in equal order give equal times on all machines.
 */
public final class StepModel {

  /*
   * Residuals are logarithms of observed over expected times, so a step counts as much as any other
   * however long it takes. Coefficients and speed minimise the same loss of the same residual and
   * share it by their uncertainty: in a new group the coefficients take it, later the speed of a rank
   * that has changed. With two losses, whose minima differ by a part of the noise, one would rise and
   * the other fall for ever. Nothing but an observation of it moves a coefficient, except a change:
   * when large residuals of one sign add up, a factor that all coefficients have in common becomes
   * uncertain, so kinds of work that are not seen follow those that are.
   *
   * If all ranks of a group slow down, their speeds or the coefficients can explain it, so noise
   * moves the median speed one way and the coefficients the other. The median is therefore reset
   * to 1, and the coefficients observed since the last reset are scaled by its old value. The
   * others change only once such resets add up to a factor that is clearly no noise.
   */

  /** What has become of an observation. */
  public enum Outcome {
    /** It was learned from. */
    LEARNED,
    /** It was learned from, and with those before it shows that times have changed for good. */
    CHANGED,
    /** It was dropped, because it is far from what is expected. */
    DROPPED,
    /** The state was no longer finite: the model has begun again with its prior. */
    RESET
  }

  private static final double FORGETTING = 0.998;

  /** Logarithm of a factor from which on a change of one kind of steps is expected of all kinds. */
  private static final double CHANGE_OF_ALL = StrictMath.log(1.5);

  private final StepTiming prior;
  private final CoefficientFit fit;
  private final Residuals ofPrompts = new Residuals();
  private final Residuals ofDecoding = new Residuals();
  private final FirstObservations first = new FirstObservations();

  /* Since the last time that the speeds of a group were centred, by coefficient. */
  private final boolean[] seen = new boolean[StepWork.SIZE];

  /** Logarithms of median speeds that coefficients have not taken over. */
  private final double[] pending = new double[StepWork.SIZE];

  private long observations;
  private long dropped;
  private boolean reported;

  /**
   * Begins with the times of a prior.
   *
   * @param prior the times
   * @param priorWeight observations that they are worth, above 0
   */
  public StepModel(StepTiming prior, double priorWeight) {
    this.prior = prior;
    this.fit =
        new CoefficientFit(
            StepWork.firstCoefficients(),
            priorWeight,
            inObservations(Residuals.FIRST_DEVIATION),
            FORGETTING);
  }

  /** {@return work to be filled, for this model} */
  public StepWork newWork() {
    return new StepWork(prior);
  }

  /**
   * A coefficient.
   *
   * @param feature index of the feature, as in {@link StepWork}
   */
  double coefficient(int feature) {
    return fit.coefficient(feature);
  }

  /** The coefficients, for comparisons with other models. */
  CoefficientFit fit() {
    return fit;
  }

  /** The times that it learns from are those that the engine reports, or were measured here. */
  void reported(boolean isReported) {
    reported = isReported;
  }

  boolean isReported() {
    return reported;
  }

  /** Half of what is known is forgotten. */
  void forget() {
    fit.widen();
    first.clear();
  }

  /** {@return times that it has learned from} */
  public long observations() {
    return observations;
  }

  /** {@return times that were dropped} */
  public long dropped() {
    return dropped;
  }

  /**
   * Makes the median speed of a group's ranks 1, because coefficients have what ranks have in
   * common. O(ranks log ranks).
   *
   * @param speeds the ranks' speeds, at least one
   */
  public void centre(List<RankSpeed> speeds) {
    double[] sorted = speeds.stream().mapToDouble(RankSpeed::location).sorted().toArray();
    double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    if (median == 0) {
      return;
    }
    for (int i = 0; i < StepWork.SIZE; i++) {
      pending[i] += median;
      if (seen[i] || Math.abs(pending[i]) > CHANGE_OF_ALL) {
        fit.scale(i, StrictMath.exp(pending[i]));
        pending[i] = 0;
      }
      seen[i] = false;
    }
    for (RankSpeed speed : speeds) {
      speed.shift(-median);
    }
  }

  /**
   * The time of some work at speed 1.
   *
   * @param work the work
   * @return milliseconds
   */
  public double ms(StepWork work) {
    return fit.sum(work.priorMs);
  }

  /**
   * The time to compute a prompt in its own steps, without decoding requests, at speed 1.
   *
   * @param uncached its tokens to compute
   * @param context its tokens before them
   * @param steps number of steps
   * @return milliseconds
   */
  public double promptMs(long uncached, long context, int steps) {
    double attendedPairs = uncached * (context + uncached / 2.0);
    return fit.coefficient(StepWork.STEPS) * prior.promptStepMs() * steps
        + fit.coefficient(StepWork.TOKENS) * prior.promptTokenMs() * uncached
        + fit.coefficient(StepWork.PAIRS) * 2 * prior.prefillQuadratic() * attendedPairs;
  }

  /**
   * The time that decoding takes in a step, at speed 1.
   *
   * @param kvTokens tokens whose KV is read
   * @return milliseconds
   */
  public double decodeMs(long kvTokens) {
    return StepWork.decodeMs(
        prior, kvTokens, coefficient(StepWork.DECODE_STEPS), coefficient(StepWork.DECODE_KV));
  }

  /**
   * Learns from the time that some work took on the only engine that the model describes.
   *
   * @param work the work
   * @param ms its time, in milliseconds
   * @return what has become of it
   */
  public Outcome learn(StepWork work, double ms) {
    first.begin(fit);
    double expected = ms(work);
    double residual = StrictMath.log(ms / expected);
    Residuals residuals = residuals(work);
    if (!residuals.gate().admits(residual)) {
      return drop();
    }
    double kept = residuals.keep(residual);
    boolean changed = residuals.haveChanged(kept);
    if (changed) {
      first.clear();
      double variance = inObservations(residuals.deviation());
      if (Math.abs(residuals.recent()) > CHANGE_OF_ALL) {
        fit.widenScale(variance);
      } else {
        fit.widen(work.priorMs, variance);
      }
    }
    fit.learn(work.priorMs, expected, kept, 1);
    first.add(work.priorMs, ms, residuals, null, fit);
    return end(changed);
  }

  /**
   * Learns from the time that some work took on a rank of the group.
   *
   * @param work the work
   * @param ms its time, in milliseconds
   * @param speed the rank's
   * @return what has become of it; a change is one of that speed
   */
  public Outcome learn(StepWork work, double ms, RankSpeed speed) {
    first.begin(fit);
    double expected = ms(work);
    double residual = StrictMath.log(ms / (expected * speed.factor()));
    if (!speed.gate(work).admits(residual)) {
      return drop();
    }
    noteSeen(work);
    Residuals residuals = residuals(work);
    double kept = residuals.keep(residual);
    double deviation = residuals.deviation();
    double noise = deviation * deviation;
    double ofFit = fit.variance(work.priorMs, expected) * noise;
    double ofSpeed = speed.variance() / noise;
    boolean changed = speed.learn(kept, deviation, ofFit);
    if (changed) {
      first.clear();
    }
    if (!speed.isAtBound(kept)) { // else the other ranks would follow one that is far off
      fit.learn(work.priorMs, expected, kept, 1 + ofSpeed);
      first.add(work.priorMs, ms, residuals, speed, fit);
    }
    return end(changed);
  }

  /**
   * Learns from the time of a step in which several ranks of the group had about as much work.
   *
   * @param work the work of one of them
   * @param ms its time at speed 1, in milliseconds
   */
  void learnTogether(StepWork work, double ms) {
    if (learn(work, ms) != Outcome.DROPPED) {
      noteSeen(work);
    }
  }

  private void noteSeen(StepWork work) {
    for (int i = 0; i < StepWork.SIZE; i++) {
      if (work.priorMs[i] != 0) {
        seen[i] = true;
        pending[i] = 0;
      }
    }
  }

  private Residuals residuals(StepWork work) {
    return work.isPrefill() ? ofPrompts : ofDecoding;
  }

  /** The variance of a change, in the unit of the fit. */
  private static double inObservations(double deviation) {
    return RankSpeed.PRIOR_VARIANCE / (deviation * deviation);
  }

  private Outcome drop() {
    dropped++;
    return sound(Outcome.DROPPED);
  }

  private Outcome end(boolean changed) {
    observations++;
    return sound(changed ? Outcome.CHANGED : Outcome.LEARNED);
  }

  /** Begins again if the state is not finite, wherever that came from: no time would be learned. */
  private Outcome sound(Outcome outcome) {
    if (fit.isSound()) {
      return outcome;
    }
    fit.reset();
    first.clear();
    ofPrompts.reset();
    ofDecoding.reset();
    return Outcome.RESET;
  }
}
