package io.kvasir.timing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The first observations of a model, which it learns from again if they have moved a coefficient
 * far. A coefficient's share in a time is taken where the coefficients are when the time is
 * observed. With a prior that is far off, the shares of the first observations are far off too, and
 * what they have taught would take hundreds of others to correct (an iterated extended Kalman
 * filter does the same).
 *
 * <p>Not thread-safe.
 */
final class FirstObservations {

  private static final int LEAST = 8;
  private static final int MOST = 256;
  private static final int ROUNDS = 3;

  /** Logarithm of a factor by which a coefficient must have moved. */
  private static final double FAR = StrictMath.log(1.5);

  @SuppressWarnings("ArrayRecordComponent") // its own copy
  private record Observation(
      double[] features, double ms, Residuals kind, @Nullable RankSpeed speed) {

    void teach(CoefficientFit fit) {
      double expected = fit.sum(features);
      double residual = StrictMath.log(ms / (expected * (speed == null ? 1 : speed.factor())));
      fit.learn(features, expected, kind.limit(residual), 1);
    }
  }

  private final List<Observation> observations = new ArrayList<>();
  private final double[] before = new double[StepWork.SIZE];
  private int count;

  /**
   * Notes the coefficients before the first observation.
   *
   * @param fit the coefficients
   */
  void begin(CoefficientFit fit) {
    if (observations.isEmpty()) {
      Arrays.setAll(before, fit::log);
    }
  }

  /**
   * Notes an observation if it is among the first, and learns from all again when their number has
   * doubled.
   *
   * @param features its features
   * @param ms its time, in milliseconds
   * @param kind the residuals of its kind
   * @param speed the speed of its rank; null for none
   * @param fit the coefficients
   */
  void add(
      double[] features, double ms, Residuals kind, @Nullable RankSpeed speed, CoefficientFit fit) {
    if (count == MOST) {
      return;
    }
    count++;
    observations.add(new Observation(features.clone(), ms, kind, speed));
    int size = observations.size();
    if (size >= LEAST && Integer.bitCount(size) == 1) {
      learnAgain(fit);
    }
    if (count == MOST) {
      observations.clear();
    }
  }

  /** What was observed so far is no longer true. */
  void clear() {
    observations.clear();
  }

  /** Coefficients without a share in any of the observations keep their values. */
  private void learnAgain(CoefficientFit fit) {
    boolean[] seen = new boolean[StepWork.SIZE];
    boolean far = false;
    double[] now = new double[StepWork.SIZE];
    for (int i = 0; i < seen.length; i++) {
      int feature = i;
      seen[i] = observations.stream().anyMatch(each -> each.features[feature] != 0);
      now[i] = fit.log(i);
      far |= seen[i] && Math.abs(now[i] - before[i]) > FAR;
    }
    for (int round = 0; far && round < ROUNDS; round++) {
      fit.forgetCertainty();
      observations.forEach(observation -> observation.teach(fit));
    }
    for (int i = 0; far && i < seen.length; i++) {
      if (!seen[i]) {
        fit.setLog(i, now[i]);
      }
    }
  }
}
