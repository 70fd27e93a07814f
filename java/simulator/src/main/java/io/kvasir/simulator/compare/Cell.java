package io.kvasir.simulator.compare;

import java.util.Comparator;
import java.util.List;

/**
 * Several policies under one load.
 *
 * <p>Immutable.
 *
 * @param load the load
 * @param policies the figures of each policy, in the order requested
 * @param <L> describes the load
 */
public record Cell<L>(L load, List<Compared> policies) {

  /** Copies the list. */
  public Cell {
    policies = List.copyOf(policies);
  }

  /** {@return the policy with the lowest p95 time to first token; the first of them in a tie} */
  public Compared best() {
    return policies.stream()
        .min(Comparator.comparingDouble(each -> each.mean(Measure.TTFT_P95_MS)))
        .orElseThrow();
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
