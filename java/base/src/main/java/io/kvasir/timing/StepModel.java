package io.kvasir.timing;

/**
 * The time that ranks need for their steps, fitted to observed times.
 *
 * <p>A rank of speed s takes {@code s (w . x)} milliseconds for the work x of {@link StepWork}: the
 * coefficients w belong to all ranks, the speed to one. Before any observation the times are those
 * of a {@link StepTiming}, and speeds are 1. Residuals are relative, so a step counts as much as
 * any other however long it takes. Coefficients and speed share a residual by their uncertainty: in
 * a new fleet the coefficients take it, later the speed of a rank that has changed.
 *
 * <p>Not thread-safe. Equal observations in equal order give equal times on all machines.
 */
public final class StepModel {

  private static final double FORGETTING = 0.998;

  /** A residual beyond this many typical ones counts as that many. */
  private static final double MOST_DEVIATIONS = 2.5;

  private static final double DEVIATION_STEP = 1.0 / 64;
  private static final double FIRST_DEVIATION = 0.3;

  /** Without noise, a change would look like hundreds of outliers. */
  private static final double LEAST_DEVIATION = 0.01;

  private final StepTiming prior;
  private final LeastSquares fit;
  private final double[] shares = new double[StepWork.SIZE];
  private double deviation = FIRST_DEVIATION;
  private long observations;

  /**
   * Begins with the times of a prior.
   *
   * @param prior the times
   * @param priorWeight observations that they are worth, above 0
   */
  public StepModel(StepTiming prior, double priorWeight) {
    this.prior = prior;
    this.fit = new LeastSquares(new double[] {1, 1, 1, 1, 0, 0}, priorWeight, FORGETTING);
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

  /** {@return times that it has learned from} */
  public long observations() {
    return observations;
  }

  /** Multiplies all times at speed 1. */
  void scale(double factor) {
    fit.scale(factor);
  }

  /**
   * Makes the mean speed of the observed ranks 1, because coefficients have what ranks have in
   * common. A rank without observations is taken for an average one.
   *
   * @param speeds the ranks' speeds
   */
  public void centre(Iterable<RankSpeed> speeds) {
    double sum = 0;
    double known = 0;
    for (RankSpeed speed : speeds) {
      sum += speed.location();
      known += speed.known();
    }
    if (known > 0) {
      double mean = sum / known;
      for (RankSpeed speed : speeds) {
        speed.shift(-mean * speed.known());
      }
      scale(StrictMath.exp(mean));
    }
  }

  /**
   * The time of some work at speed 1.
   *
   * @param work the work
   * @return milliseconds
   */
  public double ms(StepWork work) {
    double ms = 0;
    for (int i = 0; i < StepWork.SIZE; i++) {
      ms += fit.coefficient(i) * work.priorMs[i];
    }
    return ms;
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
    return fit.coefficient(StepWork.STEPS) * prior.prefillConstantMs() * steps
        + fit.coefficient(StepWork.TOKENS) * prior.prefillLinear() * uncached
        + fit.coefficient(StepWork.PAIRS) * 2 * prior.prefillQuadratic() * attendedPairs;
  }

  /**
   * The time that decoding takes in a step, at speed 1.
   *
   * @param kvTokens tokens whose KV is read
   * @return milliseconds
   */
  public double decodeMs(long kvTokens) {
    return fit.coefficient(StepWork.DECODING) * prior.decodeMs(kvTokens);
  }

  /**
   * Learns from the time that some work took.
   *
   * @param work the work
   * @param ms its time, in milliseconds
   * @param speed the rank's
   * @return whether that speed has changed for good
   */
  public boolean learn(StepWork work, double ms, RankSpeed speed) {
    double predicted = ms(work);
    if (!(predicted > 0) || !(ms > 0)) {
      return false;
    }
    observations++;
    double residual = StrictMath.log(ms / (predicted * speed.factor()));
    double most = MOST_DEVIATIONS * deviation;
    double kept = Math.max(-most, Math.min(most, residual));
    deviation += (Math.abs(kept) * 1.4826 - deviation) * DEVIATION_STEP;
    deviation = Math.max(LEAST_DEVIATION, deviation);
    for (int i = 0; i < StepWork.SIZE; i++) {
      shares[i] = work.priorMs[i] / predicted;
    }
    double noise = deviation * deviation;
    double ofFit = fit.variance(shares) * noise;
    double ofSpeed = speed.variance() / noise;
    boolean changed = speed.learn(kept, deviation, ofFit);
    fit.learn(shares, StrictMath.exp(kept), 1 + ofSpeed);
    return changed;
  }
}
