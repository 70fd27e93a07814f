package io.kvasir.simulator.compare;

import io.kvasir.simulator.replay.ReplayResult;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The figures of one policy under one load.
 *
 * <p>Immutable.
 *
 * @param policy the policy's name
 * @param estimates the requested figures
 */
public record Compared(String policy, Map<Measure, Estimate> estimates) {

  /** Copies the map. */
  public Compared {
    estimates = Map.copyOf(estimates);
  }

  static Compared of(String policy, List<Measure> measures, List<ReplayResult> results) {
    Map<Measure, Estimate> estimates = new EnumMap<>(Measure.class);
    for (Measure measure : measures) {
      estimates.put(measure, measure.estimate(results));
    }
    return new Compared(policy, estimates);
  }

  /**
   * One figure.
   *
   * @param measure one of the requested figures
   * @return its mean and interval
   * @throws IllegalArgumentException if the figure was not requested
   */
  public Estimate of(Measure measure) {
    Estimate estimate = estimates.get(measure);
    if (estimate == null) {
      throw new IllegalArgumentException(measure + " was not requested");
    }
    return estimate;
  }

  /** The mean of one figure. */
  double mean(Measure measure) {
    return of(measure).mean();
  }
}
