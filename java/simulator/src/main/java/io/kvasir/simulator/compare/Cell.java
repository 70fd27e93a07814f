package io.kvasir.simulator.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Several policies under one load.
 *
 * <p>Immutable.
 *
 * @param load the load
 * @param policies the figures of each policy, in the order requested
 * @param ratios each policy's p95 time to first token over the best other one's; empty for a single
 *     policy, or if no request got a token under one of them
 * @param <L> describes the load
 */
public record Cell<L>(L load, List<Compared> policies, Map<String, Ratio> ratios) {

  private static final Comparator<Compared> BY_P95 =
      Comparator.comparingDouble(each -> each.mean(Measure.TTFT_P95_MS));

  /** Copies the collections. */
  public Cell {
    policies = List.copyOf(policies);
    ratios = Map.copyOf(ratios);
  }

  static <L> Cell<L> of(L load, List<Measure> measures, Map<String, List<Run>> runs) {
    List<Compared> policies = new ArrayList<>();
    runs.forEach((policy, own) -> policies.add(Compared.of(policy, measures, own)));
    Map<String, Ratio> ratios = new HashMap<>();
    boolean answered =
        runs.values().stream()
            .flatMap(List::stream)
            .noneMatch(run -> run.p95Replicates().isEmpty());
    for (Compared policy : answered ? policies : List.<Compared>of()) {
      policies.stream()
          .filter(other -> !other.policy().equals(policy.policy()))
          .min(BY_P95)
          .ifPresent(
              other ->
                  ratios.put(
                      policy.policy(),
                      Ratio.of(
                          of(runs, policy),
                          of(runs, other),
                          measures.indexOf(Measure.TTFT_P95_MS))));
    }
    return new Cell<>(load, policies, ratios);
  }

  private static List<Run> of(Map<String, List<Run>> runs, Compared policy) {
    return runs.getOrDefault(policy.policy(), List.of());
  }

  /** {@return the policy with the lowest p95 time to first token; the first of them in a tie} */
  public Compared best() {
    return policies.stream().min(BY_P95).orElseThrow();
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
   * A policy's p95 time to first token relative to the lowest one.
   *
   * @param policy the name of a compared policy
   * @return at least 1
   */
  public double overLowest(String policy) {
    return of(policy).mean(Measure.TTFT_P95_MS) / best().mean(Measure.TTFT_P95_MS);
  }

  /**
   * Whether a policy is the best, or its mean is within the best one's interval.
   *
   * @param policy the name of a compared policy
   * @return true if the difference to the best may be chance
   */
  public boolean withinBest(String policy) {
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
