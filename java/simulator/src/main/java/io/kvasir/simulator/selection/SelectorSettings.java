package io.kvasir.simulator.selection;

import io.kvasir.fleet.router.cost.CostOptions;
import java.util.Objects;

/**
 * A selector over instances of one rank, and what it knows of them when. Times are virtual.
 *
 * <p>Immutable.
 *
 * @param kind who chooses
 * @param instances instances of one rank each, all alike, at least 1
 * @param eventDelayNs time from a change of an instance's blocks to when the selector knows
 * @param metricDelayNs polled: time from a poll of the instances' metrics to its answer
 * @param metricIntervalNs polled: time between polls, at least 1
 * @param ttlMs approximate: how long a placed prefix counts as held, at least 1
 * @param predictedTtlMs predictive: how long a placed prefix counts as held without an event; 0 for
 *     not at all
 * @param cost predictive, approximate: what counts how much
 */
public record SelectorSettings(
    SelectorKind kind,
    int instances,
    long eventDelayNs,
    long metricDelayNs,
    long metricIntervalNs,
    long ttlMs,
    long predictedTtlMs,
    CostOptions cost) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public SelectorSettings {
    Objects.requireNonNull(kind, "kind");
    atLeast("instances", 1, instances);
    atLeast("eventDelayNs", 0, eventDelayNs);
    atLeast("metricDelayNs", 0, metricDelayNs);
    atLeast("metricIntervalNs", 1, metricIntervalNs);
    atLeast("ttlMs", 1, ttlMs);
    atLeast("predictedTtlMs", 0, predictedTtlMs);
    Objects.requireNonNull(cost, "cost");
  }

  private static void atLeast(String field, long least, long value) {
    if (value < least) {
      throw new IllegalArgumentException(field + " must be at least " + least + ", not " + value);
    }
  }

  /**
   * The same with another selector.
   *
   * @param other who chooses
   * @return the settings
   */
  public SelectorSettings with(SelectorKind other) {
    return new SelectorSettings(
        other,
        instances,
        eventDelayNs,
        metricDelayNs,
        metricIntervalNs,
        ttlMs,
        predictedTtlMs,
        cost);
  }
}
