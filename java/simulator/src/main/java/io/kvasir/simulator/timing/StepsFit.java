package io.kvasir.simulator.timing;

import io.kvasir.simulator.timing.StepTimingFit.Accuracy;
import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepOverheads;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Fits {@link StepTiming} with its {@link StepOverheads} to the steps of one rank, as its engine
 * reports them.
 *
 * <p>Decode is linear in the KV that it reads. The fit cannot separate the data of collectives from
 * the other costs of a token, so {@link StepOverheads#allReduceTokenMs} stays 0 and {@code
 * prefillLinear} and {@code decodeRequestMs} include them. Their latency counts once in a step with
 * prefill and decode, so such steps show it.
 *
 * @param timing the coefficients
 * @param prefill how well it gives the times of steps of prompts alone
 * @param decode how well it gives those of decoding requests alone
 * @param mixed how well it gives those of both
 */
public record StepsFit(StepTiming timing, Accuracy prefill, Accuracy decode, Accuracy mixed) {

  /** More steps are thinned out to so many. */
  private static final int MOST_SAMPLES = 4_000;

  private static final int[] GRAPH_MULTIPLES = {1, 2, 4, 8, 16, 32};
  private static final double COARSE = 0.25;
  private static final double FINE = 0.05;

  /** Part of the error below which a multiple or an overlap is worth having. */
  private static final double WORTH = 0.99;

  private static final double NS_PER_MS = 1e6;

  /* The columns of a fit. The last one is in all steps. */
  private static final int PAIRS = 0;
  private static final int TOKENS = 1;
  private static final int PREFILL = 2;
  private static final int KV = 3;
  private static final int REQUESTS = 4;
  private static final int DECODE = 5;
  private static final int STEP = 6;

  /**
   * Fits.
   *
   * @param steps the steps; those without work do not count
   * @return the coefficients and how well they fit
   * @throws IllegalArgumentException if there are too few
   */
  public static StepsFit of(List<ForwardPass> steps) {
    List<ForwardPass> worked =
        steps.stream()
            .filter(step -> step.durationNs() > 0)
            .filter(step -> step.prefillTokens() > 0 || step.decodingRequests() > 0)
            .toList();
    if (worked.size() < StepTimingFit.LEAST_SAMPLES) {
      throw new IllegalArgumentException(
          "needs at least "
              + StepTimingFit.LEAST_SAMPLES
              + " steps with work, has "
              + worked.size());
    }
    return new Search(thinned(worked)).fitted();
  }

  private static List<ForwardPass> thinned(List<ForwardPass> steps) {
    int stride = (steps.size() + MOST_SAMPLES - 1) / MOST_SAMPLES;
    List<ForwardPass> some = new ArrayList<>();
    for (int i = 0; i < steps.size(); i += stride) {
      some.add(steps.get(i));
    }
    return some;
  }

  private static boolean isMixed(ForwardPass step) {
    return step.prefillTokens() > 0 && step.decodingRequests() > 0;
  }

  /**
   * Tries multiples and overlaps. For given ones, the other terms are linear once each mixed step
   * is known to be longer in prefill or in decode. The fit without overlap decides that.
   */
  private static final class Search {

    private final List<ForwardPass> steps;
    private final double[] ms;
    private final long mostKv;
    private final boolean anyMixed;
    private double bestError = Double.POSITIVE_INFINITY;
    private StepTiming best = StepTiming.DEFAULT;

    Search(List<ForwardPass> steps) {
      this.steps = steps;
      this.ms = steps.stream().mapToDouble(step -> step.durationNs() / NS_PER_MS).toArray();
      this.mostKv =
          Math.max(1, steps.stream().mapToLong(ForwardPass::decodeKvTokens).max().orElse(1));
      this.anyMixed = steps.stream().anyMatch(StepsFit::isMixed);
    }

    StepsFit fitted() {
      for (int multiple : GRAPH_MULTIPLES) {
        StepTiming sums = attempt(multiple, 0, StepTiming.DEFAULT);
        for (double overlap = COARSE; anyMixed && overlap <= 1; overlap += COARSE) {
          attempt(multiple, overlap, sums);
        }
      }
      StepOverheads coarse = best.overheads();
      double from = Math.max(0, coarse.mixedOverlap() - COARSE + FINE);
      for (double overlap = from; anyMixed && overlap <= 1; overlap += FINE) {
        if (overlap < coarse.mixedOverlap() + COARSE) {
          attempt(coarse.decodeGraphMultiple(), Math.rint(overlap / FINE) * FINE, best);
        }
      }
      return new StepsFit(
          best,
          accuracy(ForwardPass::prefillTokens, step -> step.decodingRequests() == 0),
          accuracy(ForwardPass::decodeKvTokens, step -> step.prefillTokens() == 0),
          accuracy(step -> step.prefillTokens() + step.decodeKvTokens(), StepsFit::isMixed));
    }

    /**
     * Fits the rest, and keeps it if it is better.
     *
     * @param before times that decide whether prefill or decode is longer in a mixed step
     */
    private StepTiming attempt(int multiple, double overlap, StepTiming before) {
      StepOverheads padding = new StepOverheads(0, multiple, 0, 0, overlap);
      double[][] x = new double[ms.length][];
      for (int i = 0; i < x.length; i++) {
        x[i] = columns(steps.get(i), padding, before);
      }
      RobustFit fit =
          new RobustFit(x, ms, w -> Arrays.stream(w).allMatch(coefficient -> coefficient >= 0));
      double[] w = fit.solution();
      long kvTokens = Math.max(mostKv, StepTiming.DEFAULT.decodeKvTokens());
      StepTiming timing =
          new StepTiming(
              w[PAIRS],
              w[TOKENS],
              w[PREFILL],
              0,
              w[KV] * kvTokens / mostKv,
              w[DECODE],
              0,
              kvTokens,
              new StepOverheads(w[REQUESTS], multiple, w[STEP], 0, overlap));
      if (fit.meanError() < WORTH * bestError) {
        bestError = fit.meanError();
        best = timing;
      }
      return timing;
    }

    private double[] columns(ForwardPass step, StepOverheads padding, StepTiming before) {
      double prefill = step.prefillTokens() > 0 ? 1 : 0;
      double decode = step.decodingRequests() > 0 ? 1 : 0;
      if (isMixed(step)) {
        double shorter = 1 - padding.mixedOverlap();
        boolean computes = prefillMs(step, before) >= decodeMs(step, before);
        prefill = computes ? 1 : shorter;
        decode = computes ? shorter : 1;
      }
      double[] x = new double[STEP + 1];
      x[PAIRS] = prefill * 2 * step.attendedPairs();
      x[TOKENS] = prefill * step.prefillTokens();
      x[PREFILL] = prefill;
      x[KV] = decode * step.decodeKvTokens() / mostKv;
      x[REQUESTS] = decode * padding.padded(step.decodingRequests());
      x[DECODE] = decode;
      x[STEP] = 1;
      return x;
    }

    private static double prefillMs(ForwardPass step, StepTiming timing) {
      return timing.stepMs(step.attendedPairs(), step.prefillTokens(), 0, 0);
    }

    private static double decodeMs(ForwardPass step, StepTiming timing) {
      return timing.stepMs(0, 0, step.decodingRequests(), step.decodeKvTokens());
    }

    private Accuracy accuracy(ToLongFunction<ForwardPass> size, Predicate<ForwardPass> kind) {
      List<ForwardPass> some = steps.stream().filter(kind).toList();
      double[] errors =
          some.stream()
              .mapToDouble(
                  step -> {
                    double measured = step.durationNs() / NS_PER_MS;
                    return Math.abs(expectedMs(step) - measured) / measured;
                  })
              .toArray();
      return Accuracy.of(errors, some.stream().mapToLong(size).toArray());
    }

    private double expectedMs(ForwardPass step) {
      return best.stepMs(
          step.attendedPairs(),
          step.prefillTokens(),
          step.decodingRequests(),
          step.decodeKvTokens());
    }
  }
}
