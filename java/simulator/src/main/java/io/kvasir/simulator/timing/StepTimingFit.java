package io.kvasir.simulator.timing;

import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Fits {@link StepTiming} to answered requests of one rank.
 *
 * <p>The time to the first token is taken as one prefill step. Where start times are known, only
 * requests count whose prefill no other overlapped; waiting that remains is an outlier. A gap
 * between tokens is taken as one decode step that reads the KV of all requests that decode at the
 * time, or, without start times, of its own request only.
 *
 * @param timing the coefficients; those of the decode polynomial are the defaults if {@link
 *     #decode} has no samples
 * @param prefill how well it gives the times to first token
 * @param decode how well it gives the gaps
 * @param overlapped requests that were left out, because another's prefill overlapped theirs
 * @param started whether all requests had start times
 */
public record StepTimingFit(
    StepTiming timing, Accuracy prefill, Accuracy decode, int overlapped, boolean started) {

  /** Fewer samples do not determine the coefficients. */
  public static final int LEAST_SAMPLES = 8;

  private static final double MEDIAN = 0.5;
  private static final double HIGH = 0.95;

  /**
   * The relative errors of a fit.
   *
   * @param samples number of samples
   * @param median median of |fitted - measured| / measured
   * @param p95 its 95th percentile
   * @param from the least size of a sample, in tokens: computed ones, or those of the KV read
   * @param to the largest size
   */
  public record Accuracy(int samples, double median, double p95, long from, long to) {

    static final Accuracy NONE = new Accuracy(0, 0, 0, 0, 0);

    static Accuracy of(RobustFit fit, long... sizes) {
      return of(fit.relativeErrors(), sizes);
    }

    static Accuracy of(double[] errors, long... sizes) {
      if (sizes.length == 0) {
        return NONE;
      }
      return new Accuracy(
          sizes.length,
          RobustFit.percentile(errors, MEDIAN),
          RobustFit.percentile(errors, HIGH),
          Arrays.stream(sizes).min().orElse(0),
          Arrays.stream(sizes).max().orElse(0));
    }
  }

  /**
   * Fits.
   *
   * @param requests the requests
   * @return the coefficients and how well they fit
   * @throws IllegalArgumentException if there are too few
   */
  public static StepTimingFit of(List<AnsweredRequest> requests) {
    boolean started = requests.stream().allMatch(AnsweredRequest::started);
    List<AnsweredRequest> alone = started ? withoutOverlap(requests) : requests;
    if (alone.size() < LEAST_SAMPLES) {
      throw new IllegalArgumentException(
          "needs at least "
              + LEAST_SAMPLES
              + " requests"
              + (started ? " whose prefill no other overlaps" : "")
              + ", has "
              + alone.size());
    }
    double[][] x = new double[alone.size()][];
    double[] y = new double[alone.size()];
    long[] sizes = new long[alone.size()];
    for (int i = 0; i < y.length; i++) {
      double computed = alone.get(i).computedTokens();
      x[i] = new double[] {computed * (computed + 2.0 * alone.get(i).cachedTokens()), computed, 1};
      y[i] = alone.get(i).firstTokenMs();
      sizes[i] = alone.get(i).computedTokens();
    }
    RobustFit prefill =
        new RobustFit(x, y, w -> Arrays.stream(w).allMatch(coefficient -> coefficient >= 0));
    TokenGaps gaps = started ? TokenGaps.together(requests) : TokenGaps.alone(requests);
    StepTiming other = StepTiming.DEFAULT;
    double[] w = prefill.solution();
    int overlapped = requests.size() - alone.size();
    if (gaps.size() < LEAST_SAMPLES) {
      StepTiming timing =
          new StepTiming(
              w[0],
              w[1],
              w[2],
              other.decodeQuadratic(),
              other.decodeLinear(),
              other.decodeConstantMs(),
              other.decodeFloorMs(),
              other.decodeKvTokens());
      return new StepTimingFit(
          timing, Accuracy.of(prefill, sizes), Accuracy.NONE, overlapped, started);
    }
    RobustFit decode = gaps.fit();
    double[] v = decode.solution();
    boolean line = v[0] == 0;
    long kvTokens = line ? Math.max(gaps.mostTokens(), other.decodeKvTokens()) : gaps.mostTokens();
    double linear = v[1] * kvTokens / gaps.mostTokens();
    return new StepTimingFit(
        new StepTiming(w[0], w[1], w[2], v[0], linear, v[2], 0, kvTokens),
        Accuracy.of(prefill, sizes),
        Accuracy.of(decode, gaps.tokens()),
        overlapped,
        started);
  }

  /** The requests between whose start and first token no other request waits for its own. */
  private static List<AnsweredRequest> withoutOverlap(List<AnsweredRequest> requests) {
    List<AnsweredRequest> inOrder = new ArrayList<>(requests);
    inOrder.sort(Comparator.comparingDouble(AnsweredRequest::startMs));
    List<AnsweredRequest> alone = new ArrayList<>();
    double busyUntilMs = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < inOrder.size(); i++) {
      AnsweredRequest request = inOrder.get(i);
      boolean followed =
          i + 1 < inOrder.size() && inOrder.get(i + 1).startMs() < request.firstTokenAtMs();
      if (request.startMs() >= busyUntilMs && !followed) {
        alone.add(request);
      }
      busyUntilMs = Math.max(busyUntilMs, request.firstTokenAtMs());
    }
    return alone;
  }
}
