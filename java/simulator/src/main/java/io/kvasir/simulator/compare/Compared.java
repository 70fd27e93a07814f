package io.kvasir.simulator.compare;

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

  static Compared of(String policy, List<Measure> measures, List<Run> runs) {
    Map<Measure, Estimate> estimates = new EnumMap<>(Measure.class);
    for (int i = 0; i < measures.size(); i++) {
      int figure = i;
      estimates.put(
          measures.get(i),
          Estimate.of(runs.stream().mapToDouble(run -> run.figures().get(figure)).toArray()));
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
