package io.kvasir.select;

import io.kvasir.rank.ActiveSequencesOptions;
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
      new KvSchedulerOptions(ActiveSequencesOptions.DEFAULT, BusyThresholds.NONE, QueueOptions.OFF, false);

  /** Refuses nulls. */
  public KvSchedulerOptions {
    Objects.requireNonNull(loads, "loads");
    Objects.requireNonNull(busyThresholds, "busyThresholds");
    Objects.requireNonNull(queue, "queue");
  }
}
