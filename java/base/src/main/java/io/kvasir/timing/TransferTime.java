package io.kvasir.timing;

/**
 * The time in which the KV of a prompt moves from one worker to another, fitted to observed times:
 * a part for each transfer and a part for each token.
 *
 * <p>The observation is the time from the start of a transfer to the first token. It includes other
 * work until then. The caller states how long that work is expected to take, and the rest counts as
 * the transfer's. Residuals are logarithms of the whole observed over the whole expected time, so a
 * transfer that is a small part of that time teaches little, and residuals beyond 2.5 typical ones
 * count as that many. The part for each token stays within 1/1000 and 1000 times that of the prior,
 * the part for each transfer below a second.
 *
 * <p>Not thread-safe. Equal observations in equal order give equal times on all machines.
 */
public final class TransferTime {

  private static final double[] FIRST = {0, 1};
  private static final int EACH = 0;
  private static final int TOKENS = 1;

  /** Unit of the part for each transfer, in milliseconds. */
  private static final double EACH_MS = 1;

  /** Observations that the prior is worth: few, because links differ by orders of magnitude. */
  private static final double PRIOR_WEIGHT = 0.1;

  /** Variance of a factor that both parts have in common, in observations. */
  private static final double SCALE_VARIANCE = 10;

  private static final double FORGETTING = 0.998;
  private static final double MOST_FACTOR = 1_000;

  /** Below it, times are those of clocks. */
  private static final double LEAST_MS = 1e-3;

  private final double priorMsPerToken;
  private final CoefficientFit fit;
  private final Residuals residuals = new Residuals();
  private final double[] features = {EACH_MS, 0};

  /**
   * Begins with the time of a prior, which has no part for each transfer.
   *
   * @param priorMsPerToken milliseconds for each token, above 0
   */
  public TransferTime(double priorMsPerToken) {
    this.priorMsPerToken = priorMsPerToken;
    this.fit = new CoefficientFit(FIRST, PRIOR_WEIGHT, SCALE_VARIANCE, FORGETTING, MOST_FACTOR);
  }

  /**
   * Begins with what is expected of others.
   *
   * @param others the times of other pairs of workers
   */
  public TransferTime(TransferTime others) {
    this(others.priorMsPerToken);
    for (int i = 0; i < FIRST.length; i++) {
      fit.setLog(i, others.fit.log(i));
    }
  }

  /**
   * The expected time of a transfer.
   *
   * @param tokens the tokens whose KV moves, at least 0
   * @return milliseconds; 0 without tokens
   */
  public double ms(long tokens) {
    return tokens == 0
        ? 0
        : fit.coefficient(EACH) * EACH_MS + fit.coefficient(TOKENS) * priorMsPerToken * tokens;
  }

  /**
   * Learns from a transfer. Times that are not finite or not above 0 are ignored.
   *
   * @param tokens the tokens whose KV has moved; without any, nothing is learned
   * @param otherMs what the observed time should contain besides, at least 0
   * @param ms the observed time
   * @return false if the state was no longer finite, and begins again with the prior
   */
  public boolean learn(long tokens, double otherMs, double ms) {
    double expected = Math.max(LEAST_MS, otherMs + ms(tokens));
    double residual = StrictMath.log(Math.max(LEAST_MS, ms) / expected);
    if (tokens <= 0 || !(ms > 0) || !Double.isFinite(residual)) {
      return true;
    }
    features[TOKENS] = priorMsPerToken * tokens;
    double kept = residuals.keep(residual);
    if (residuals.haveChanged(kept)) {
      fit.widenScale(SCALE_VARIANCE);
    }
    fit.learn(features, expected, kept, 1);
    if (!fit.isSound()) {
      fit.reset();
      residuals.reset();
      return false;
    }
    return true;
  }

  /**
   * Nothing was observed for a while: half of what is known is forgotten, so that a pair that was
   * slow for a time, and is avoided since, is tried again.
   *
   * @param others the times of other pairs
   */
  public void relax(TransferTime others) {
    for (int i = 0; i < FIRST.length; i++) {
      fit.setLog(i, (fit.log(i) + others.fit.log(i)) / 2);
    }
    fit.widen();
  }
}
