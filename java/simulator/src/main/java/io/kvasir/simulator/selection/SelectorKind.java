package io.kvasir.simulator.selection;

import io.kvasir.hash.HashFormat;
import io.kvasir.select.CostOptions;
import java.util.Locale;

/** The selectors that are compared. */
public enum SelectorKind {
  /** Block events, and the load predicted from what was placed. */
  PREDICTIVE,
  /** Block events, and the load by polled metrics. */
  POLLED,
  /** Nothing; by turns. */
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
   * Makes a selector that has not been told anything.
   *
   * @param settings the instances and how their metrics are polled
   * @param format how blocks are named
   * @param tokensPerBlock tokens of a block
   * @return the selector; the caller closes it
   */
  public InstanceSelector create(SelectorSettings settings, HashFormat format, int tokensPerBlock) {
    int instances = settings.instances();
    return switch (this) {
      case PREDICTIVE ->
          new ScheduledSelector(
              instances,
              tokensPerBlock,
              new InstanceIndex(format, tokensPerBlock),
              CostOptions.DEFAULT);
      case POLLED ->
          new PolledSelector(
              instances,
              tokensPerBlock,
              new InstanceIndex(format, tokensPerBlock),
              new PolledLoads(instances, settings.metricIntervalNs(), settings.metricDelayNs()));
      case ROUND_ROBIN -> new RoundRobinSelector(instances);
    };
  }
}
