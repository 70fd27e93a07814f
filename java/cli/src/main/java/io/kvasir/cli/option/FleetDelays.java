package io.kvasir.cli.option;

import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.simulator.fleet.FleetSettings;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** Delays of the metrics and block events that a fleet router receives. */
@Heading(Heading.FLEET)
public final class FleetDelays {

  private static final int MAX_WORKERS = 1024;
  private static final double MAX_DELAY_MS = 3_600_000;
  private static final double MIN_INTERVAL_MS = 0.001;
  private static final double NS_PER_MS = 1e6;

  static final String METRIC_DELAY_MS = "--metric-delay-ms";
  static final String METRIC_INTERVAL_MS = "--metric-interval-ms";

  @Option(
      names = METRIC_DELAY_MS,
      paramLabel = "X",
      defaultValue = "5",
      order = 40,
      description = "polled: modelled delay of metrics (default: ${DEFAULT-VALUE}).")
  private String metricDelayMs;

  @Option(
      names = METRIC_INTERVAL_MS,
      paramLabel = "X",
      defaultValue = "100",
      order = 40,
      description = "polled: modelled time between polls (default: ${DEFAULT-VALUE}).")
  private String metricIntervalMs;

  FleetDelays() {}

  /**
   * {@return a fleet with these delays}
   *
   * @param workers value of {@code --workers}
   * @param router the fleet router
   * @param args its args
   * @param eventDelayMs value of {@code --event-delay-ms}
   * @throws UsageException if a value is not allowed
   */
  public FleetSettings fleet(
      String workers, FleetRouterProvider router, Map<String, Object> args, String eventDelayMs) {
    return new FleetSettings(
        Values.integer(FleetOptions.WORKERS, workers, 1, MAX_WORKERS),
        router,
        args,
        ns("--event-delay-ms", eventDelayMs, 0),
        ns(METRIC_DELAY_MS, metricDelayMs, 0),
        ns(METRIC_INTERVAL_MS, metricIntervalMs, MIN_INTERVAL_MS),
        List.of());
  }

  private static long ns(String option, String milliseconds, double minimum) {
    return Math.round(Values.number(option, milliseconds, minimum, MAX_DELAY_MS) * NS_PER_MS);
  }
}
