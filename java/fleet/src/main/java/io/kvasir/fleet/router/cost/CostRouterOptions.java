package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.load.ActiveSequencesOptions;
import java.util.Objects;

/**
 * Settings of a {@link CostRouter}. Immutable.
 *
 * @param loads what counts as load
 * @param busyThresholds when ranks are overloaded
 * @param queue whether requests wait
 * @param explain whether placements list the costs that were compared
 */
public record CostRouterOptions(
    ActiveSequencesOptions loads,
    BusyThresholds busyThresholds,
    QueueOptions queue,
    boolean explain) {

  /** The default loads, no busy thresholds, no queue, no explanations. */
  public static final CostRouterOptions DEFAULT =
      new CostRouterOptions(
          ActiveSequencesOptions.DEFAULT, BusyThresholds.NONE, QueueOptions.OFF, false);

  /** Refuses nulls. */
  public CostRouterOptions {
    Objects.requireNonNull(loads, "loads");
    Objects.requireNonNull(busyThresholds, "busyThresholds");
    Objects.requireNonNull(queue, "queue");
  }

  /**
   * These options with other loads.
   *
   * @param value what counts as load
   * @return new options
   */
  public CostRouterOptions withLoads(ActiveSequencesOptions value) {
    return new CostRouterOptions(value, busyThresholds, queue, explain);
  }

  /**
   * These options with other thresholds.
   *
   * @param value when ranks are overloaded
   * @return new options
   */
  public CostRouterOptions withBusyThresholds(BusyThresholds value) {
    return new CostRouterOptions(loads, value, queue, explain);
  }

  /**
   * These options with another queue.
   *
   * @param value whether requests wait
   * @return new options
   */
  public CostRouterOptions withQueue(QueueOptions value) {
    return new CostRouterOptions(loads, busyThresholds, value, explain);
  }

  /**
   * These options with or without explanations.
   *
   * @param value whether placements list the costs that were compared
   * @return new options
   */
  public CostRouterOptions withExplain(boolean value) {
    return new CostRouterOptions(loads, busyThresholds, queue, value);
  }
}
