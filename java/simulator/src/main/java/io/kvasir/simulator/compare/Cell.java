package io.kvasir.simulator.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Several policies under one load.
 *
 * <p>Immutable.
 *
 * @param load the load
 * @param policies the figures of each policy, in the order requested
 * @param ratios by figure of the time to first token, each policy's over the best other one's; in a
 *     saturated case only that of the p95, which is the best other one's capacity over its own;
 *     none for a single policy, or if no request got a token under one of them
 * @param capacities in a saturated case, each policy's capacity relative to the load; else empty
 * @param <L> describes the load
 */
public record Cell<L>(
    L load,
    List<Compared> policies,
    Map<Measure, Map<String, Ratio>> ratios,
    Map<String, Estimate> capacities) {

  /** The figures that have ratios. */
  private static final List<Measure> FIRST_TOKEN =
      List.of(Measure.TTFT_P50_MS, Measure.TTFT_P95_MS, Measure.TTFT_P99_MS, Measure.TTFT_MEAN_MS);

  /** Copies the collections. */
  public Cell {
    policies = List.copyOf(policies);
    ratios = Map.copyOf(ratios);
    capacities = Map.copyOf(capacities);
  }

  static <L> Cell<L> of(L load, List<Measure> measures, Map<String, List<Run>> runs) {
    List<Compared> policies = new ArrayList<>();
    runs.forEach((policy, own) -> policies.add(Compared.of(policy, measures, own)));
    Map<Measure, Map<String, Ratio>> ratios = new EnumMap<>(Measure.class);
    boolean answered =
        runs.values().stream()
            .flatMap(List::stream)
            .noneMatch(run -> run.p95Replicates().isEmpty());
    for (Measure measure : answered ? FIRST_TOKEN : List.<Measure>of()) {
      int figure = measures.indexOf(measure);
      if (figure >= 0) {
        ratios.put(measure, ratios(policies, measure, figure, runs));
      }
    }
    return new Cell<>(load, policies, ratios, Map.of());
  }

  private static Map<String, Ratio> ratios(
      List<Compared> policies, Measure measure, int figure, Map<String, List<Run>> runs) {
    Map<String, Ratio> ratios = new HashMap<>();
    for (Compared policy : policies) {
      policies.stream()
          .filter(other -> !other.policy().equals(policy.policy()))
          .min(Comparator.comparingDouble(other -> other.mean(measure)))
          .ifPresent(
              best ->
                  ratios.put(
                      policy.policy(),
                      measure == Measure.TTFT_P95_MS
                          ? Ratio.ofP95(of(runs, policy), of(runs, best), figure)
                          : Ratio.of(values(runs, policy, figure), values(runs, best, figure))));
    }
    return ratios;
  }

  private static double[] values(Map<String, List<Run>> runs, Compared policy, int figure) {
    return of(runs, policy).stream().mapToDouble(run -> run.figures().get(figure)).toArray();
  }

  private static List<Run> of(Map<String, List<Run>> runs, Compared policy) {
    return runs.getOrDefault(policy.policy(), List.of());
  }

  /**
   * This case as a saturated one.
   *
   * @param values capacities by policy, one for each seed
   */
  Cell<L> withCapacities(Map<String, double[]> values) {
    Map<String, Estimate> estimates = new HashMap<>();
    values.forEach((policy, own) -> estimates.put(policy, Estimate.of(own)));
    Map<String, Ratio> over = new HashMap<>();
    values.forEach(
        (policy, own) ->
            values.entrySet().stream()
                .filter(other -> !other.getKey().equals(policy))
                .max(Comparator.comparingDouble(other -> Arrays.stream(other.getValue()).sum()))
                .ifPresent(best -> over.put(policy, Ratio.of(best.getValue(), own))));
    return new Cell<>(load, policies, Map.of(Measure.TTFT_P95_MS, over), estimates);
  }

  /**
   * A policy's figure over the best other one's.
   *
   * @param measure a figure of the time to first token
   * @param policy the name of a compared policy
   * @return the ratio; null if there is none
   */
  public @Nullable Ratio ratio(Measure measure, String policy) {
    return ratios.getOrDefault(measure, Map.of()).get(policy);
  }

  /** {@return whether capacities are compared, because the p95 of every policy is too high} */
  public boolean saturated() {
    return !capacities.isEmpty();
  }

  /**
   * The capacity of a policy in a saturated case.
   *
   * @param policy the name of a compared policy
   * @return the highest load at which its p95 is low enough, relative to this one
   */
  public Estimate capacity(String policy) {
    return Objects.requireNonNull(capacities.get(policy), policy);
  }

  /** What policies are compared by, lower is better: the p95, or the inverse of the capacity. */
  private double compared(Compared policy) {
    return saturated() ? 1 / capacity(policy.policy()).mean() : policy.mean(Measure.TTFT_P95_MS);
  }

  /**
   * {@return the policy with the lowest p95 time to first token or, in a saturated case, the
   * highest capacity; the first of them in a tie}
   */
  public Compared best() {
    return policies.stream().min(Comparator.comparingDouble(this::compared)).orElseThrow();
  }

  /**
   * The figures of one policy.
   *
   * @param policy the name of a compared policy
   * @return its figures
   */
  public Compared of(String policy) {
    return policies.stream().filter(each -> each.policy().equals(policy)).findFirst().orElseThrow();
  }

  /**
   * A policy's p95 time to first token relative to the lowest one or, in a saturated case, the
   * highest capacity relative to its own.
   *
   * @param policy the name of a compared policy
   * @return at least 1
   */
  public double overLowest(String policy) {
    return compared(of(policy)) / compared(best());
  }

  /**
   * Whether a policy is the best, or its mean is within the best one's interval.
   *
   * @param policy the name of a compared policy
   * @return true if the difference to the best may be chance
   */
  public boolean withinBest(String policy) {
    if (saturated()) {
      Estimate most = capacity(best().policy());
      double own = capacity(policy).mean();
      return own >= most.mean() || own >= most.mean() - most.halfWidth();
    }
    return best().of(Measure.TTFT_P95_MS).covers(of(policy).mean(Measure.TTFT_P95_MS));
  }

  /**
   * A policy's token hit rate relative to the highest one.
   *
   * @param policy the name of a compared policy
   * @return at most 1; 1 if no policy has a hit
   */
  public double shareOfBestHitRate(String policy) {
    double most =
        policies.stream().mapToDouble(each -> each.mean(Measure.TOKEN_HIT_RATE)).max().orElse(0);
    return most == 0 ? 1 : of(policy).mean(Measure.TOKEN_HIT_RATE) / most;
  }
}
