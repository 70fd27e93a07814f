package io.kvasir.simulator.selection;

import java.util.Objects;

/**
 * A selector over instances, and how late it learns of what happens in them.
 *
 * <p>Immutable.
 *
 * @param kind who chooses
 * @param instances instances of one rank each, all alike, at least 1
 * @param eventDelayNs virtual time from a change of an instance's blocks to when the selector knows
 * @param metricDelayNs virtual time from a poll of the instances' metrics to its answer
 * @param metricIntervalNs virtual time between polls, at least 1
 */
public record SelectorSettings(
    SelectorKind kind,
    int instances,
    long eventDelayNs,
    long metricDelayNs,
    long metricIntervalNs) {

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
    return new SelectorSettings(other, instances, eventDelayNs, metricDelayNs, metricIntervalNs);
  }
}
