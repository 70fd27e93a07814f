package io.kvasir.simulator.selection;

import io.kvasir.hash.HashFormat;
import java.util.Locale;

/** The selectors that are compared. */
public enum SelectorKind {
  /** Caches by block events and, until these come, by what was placed; load as it is predicted. */
  PREDICTIVE,
  /** Caches by block events; load by polled metrics. */
  POLLED,
  /** Without events: caches by what was placed; load as it is predicted. */
  APPROXIMATE,
  /** By turns. */
  ROUND_ROBIN;

  /**
   * The selector's name in options and reports.
   *
   * @return for example {@code round_robin}
   */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Whether it wants the instances' block events.
   *
   * @return true if it is told of them
   */
  public boolean followsBlocks() {
    return this == PREDICTIVE || this == POLLED;
  }

  /**
   * Whether it polls the instances' metrics.
   *
   * @return true if it is told of them
   */
  public boolean pollsLoads() {
    return this == POLLED;
  }

  /**
   * Makes a selector that has not been told anything.
   *
   * @param settings the instances and what is known of them when
   * @param format how blocks are named; one that chains local hashes
   * @param tokensPerBlock tokens of a block
   * @return the selector; the caller closes it
   * @throws IllegalArgumentException if the format is not of that kind
   */
  public InstanceSelector create(SelectorSettings settings, HashFormat format, int tokensPerBlock) {
    int instances = settings.instances();
    return switch (this) {
      case PREDICTIVE ->
          new ScheduledSelector(
              instances, format, tokensPerBlock, settings.predictedTtlMs(), settings.cost());
      case POLLED ->
          new PolledSelector(
              instances,
              tokensPerBlock,
              InstanceIndex.empty(format, tokensPerBlock),
              new PolledLoads(instances, settings.metricIntervalNs(), settings.metricDelayNs()));
      case APPROXIMATE ->
          new ScheduledSelector(
              instances, format, tokensPerBlock, settings.ttlMs(), settings.cost());
      case ROUND_ROBIN -> new RoundRobinSelector(instances);
    };
  }
}
