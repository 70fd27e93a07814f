package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.load.ActiveSequencesOptions;
import java.util.Objects;

/**
 * Settings of a {@link KvScheduler}. Immutable.
 *
 * @param loads what counts as load
 * @param busyThresholds when ranks are overloaded
 * @param queue whether requests wait
 * @param explain whether decisions carry the costs that were compared
 */
public record KvSchedulerOptions(
    ActiveSequencesOptions loads,
    BusyThresholds busyThresholds,
    QueueOptions queue,
    boolean explain) {

  /** The default loads, no rank is ever overloaded, nobody waits, nothing is explained. */
  public static final KvSchedulerOptions DEFAULT =
      new KvSchedulerOptions(
          ActiveSequencesOptions.DEFAULT, BusyThresholds.NONE, QueueOptions.OFF, false);

  /** Refuses nulls. */
  public KvSchedulerOptions {
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
  public KvSchedulerOptions withLoads(ActiveSequencesOptions value) {
    return new KvSchedulerOptions(value, busyThresholds, queue, explain);
  }

  /**
   * These options with other thresholds.
   *
   * @param value when ranks are overloaded
   * @return new options
   */
  public KvSchedulerOptions withBusyThresholds(BusyThresholds value) {
    return new KvSchedulerOptions(loads, value, queue, explain);
  }

  /**
   * These options with another queue.
   *
   * @param value whether requests wait
   * @return new options
   */
  public KvSchedulerOptions withQueue(QueueOptions value) {
    return new KvSchedulerOptions(loads, busyThresholds, value, explain);
  }

  /**
   * These options with or without explanations.
   *
   * @param value whether decisions carry the costs that were compared
   * @return new options
   */
  public KvSchedulerOptions withExplain(boolean value) {
    return new KvSchedulerOptions(loads, busyThresholds, queue, value);
  }
}
