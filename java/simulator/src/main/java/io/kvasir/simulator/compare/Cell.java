package io.kvasir.simulator.compare;

import java.util.Comparator;
import java.util.List;

/**
 * Several policies under one load.
 *
 * <p>Immutable.
 *
 * @param load the load
 * @param policies the figures of each policy, in the order asked for
 * @param <L> what describes a load
 */
public record Cell<L>(L load, List<Compared> policies) {

  /** Copies the list. */
  public Cell {
    policies = List.copyOf(policies);
  }

  /**
   * The policy with the earliest first tokens (p95).
   *
   * @return the first of them, if several are equal
   */
  public Compared best() {
    return policies.stream()
        .min(Comparator.comparingDouble(each -> each.mean(Measure.TTFT_P95_MS)))
        .orElseThrow();
  }

  /**
   * The figures of one policy.
   *
   * @param policy the name of one of those compared
   * @return its figures
   */
  public Compared of(String policy) {
    return policies.stream().filter(each -> each.policy().equals(policy)).findFirst().orElseThrow();
  }

  /**
   * Whether a policy is the best, or its mean lies within the best one's interval.
   *
   * @param policy the name of one of those compared
   * @return true if chance may explain that it is not the best
   */
  public boolean withinBest(String policy) {
    return best().of(Measure.TTFT_P95_MS).covers(of(policy).mean(Measure.TTFT_P95_MS));
  }

  /**
   * A policy's token hit rate over the highest one.
   *
   * @param policy the name of one of those compared
   * @return at most 1; 1 if no policy has a hit
   */
  public double shareOfBestHitRate(String policy) {
    double most =
        policies.stream().mapToDouble(each -> each.mean(Measure.TOKEN_HIT_RATE)).max().orElse(0);
    return most == 0 ? 1 : of(policy).mean(Measure.TOKEN_HIT_RATE) / most;
  }
}
