package io.kvasir.simulator.fleet;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Checks;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The workers of a replay, the fleet router, and the delays of its events and metrics. Times are
 * virtual.
 *
 * <p>Immutable.
 *
 * @param workers number of workers, all alike, at least 1
 * @param router creates the router
 * @param args the router's settings under their upstream names; missing ones take their defaults
 * @param eventDelayNs time from a change of a worker's blocks to its event at the router
 * @param metricDelayNs time from a poll of the workers' metrics to its answer
 * @param metricIntervalNs time between polls, at least 1
 * @param whatIf other routers that are asked where they would place the same requests
 * @param returnNs when workers join that are not there from the beginning, with empty pools, by
 *     their index
 */
public record FleetSettings(
    int workers,
    FleetRouterProvider router,
    Map<String, Object> args,
    long eventDelayNs,
    long metricDelayNs,
    long metricIntervalNs,
    List<FleetRouterProvider> whatIf,
    Map<Integer, Long> returnNs) {

  private static final long NS_PER_MS = 1_000_000;

  /** Checks the ranges. The args are checked when a router is created. */
  public FleetSettings {
    Objects.requireNonNull(router, "router");
    Checks.atLeast("workers", workers, 1);
    Checks.atLeast("eventDelayNs", eventDelayNs, 0);
    Checks.atLeast("metricDelayNs", metricDelayNs, 0);
    Checks.atLeast("metricIntervalNs", metricIntervalNs, 1);
    args = Map.copyOf(args);
    whatIf = List.copyOf(whatIf);
    returnNs = Map.copyOf(returnNs);
    for (Map.Entry<Integer, Long> each : returnNs.entrySet()) {
      Checks.within("returnNs", each.getKey(), 0, workers - 1L);
      Checks.atLeast("returnNs", each.getValue(), 1);
    }
    if (returnNs.size() == workers) {
      throw new IllegalArgumentException("returnNs must leave a worker that is there at first");
    }
  }

  /**
   * Workers that are all there from the beginning.
   *
   * @param workers as above
   * @param router as above
   * @param args as above
   * @param eventDelayNs as above
   * @param metricDelayNs as above
   * @param metricIntervalNs as above
   * @param whatIf as above
   */
  public FleetSettings(
      int workers,
      FleetRouterProvider router,
      Map<String, Object> args,
      long eventDelayNs,
      long metricDelayNs,
      long metricIntervalNs,
      List<FleetRouterProvider> whatIf) {
    this(workers, router, args, eventDelayNs, metricDelayNs, metricIntervalNs, whatIf, Map.of());
  }

  /**
   * Workers under a router with default settings: events without delay, metrics polled every 100 ms
   * and answered after 5 ms.
   *
   * @param workers number of workers, at least 1
   * @param router the router's name
   * @return the settings
   * @throws IllegalArgumentException if the name is unknown
   */
  public static FleetSettings of(int workers, String router) {
    return new FleetSettings(
        workers,
        FleetRouterKind.named(router),
        Map.of(),
        0,
        5 * NS_PER_MS,
        100 * NS_PER_MS,
        List.of());
  }

  /**
   * The same settings with other args.
   *
   * @param value the args
   * @return the settings
   */
  public FleetSettings withArgs(Map<String, Object> value) {
    return new FleetSettings(
        workers, router, value, eventDelayNs, metricDelayNs, metricIntervalNs, whatIf, returnNs);
  }

  /**
   * The same settings with another delay of block events.
   *
   * @param ns the delay in nanoseconds, at least 0
   * @return the settings
   */
  public FleetSettings withEventDelayNs(long ns) {
    return new FleetSettings(
        workers, router, args, ns, metricDelayNs, metricIntervalNs, whatIf, returnNs);
  }

  /**
   * The same settings with other routers to ask.
   *
   * @param value routers that are asked where they would place the same requests
   * @return the settings
   */
  public FleetSettings withWhatIf(List<FleetRouterProvider> value) {
    return new FleetSettings(
        workers, router, args, eventDelayNs, metricDelayNs, metricIntervalNs, value, returnNs);
  }

  /**
   * The same settings with workers that join later.
   *
   * @param value when they join, in nanoseconds, by their index
   * @return the settings
   * @throws IllegalArgumentException if there is no such worker, or all join later
   */
  public FleetSettings withReturnNs(Map<Integer, Long> value) {
    return new FleetSettings(
        workers, router, args, eventDelayNs, metricDelayNs, metricIntervalNs, whatIf, value);
  }

  /**
   * The hash format that the router requires. A router that chooses workers compares blocks by
   * TensorRT-LLM hashes, any other router by the pools' own.
   *
   * @param own the pools' format
   * @return the format that pools must use
   */
  public HashFormat naming(HashFormat own) {
    return router.followsBlocks() && !router.choosesRanks() ? HashFormat.TRTLLM_V1 : own;
  }
}
