package io.kvasir.cli.option;

import io.kvasir.gateway.route.BreakerSettings;
import picocli.CommandLine.Option;

/** Options about workers that fail. */
@Heading("Limits and timeouts")
final class BreakerLimits {

  private static final int MAX_FAILURES = 1 << 20;
  private static final int ALL = 100;

  @Option(
      names = "--breaker-failures",
      paramLabel = "N",
      defaultValue = "5",
      order = 33,
      description =
          "Failures within the window from which a worker may rest; a 500 counts half"
              + " (default: ${DEFAULT-VALUE}).")
  private String failures;

  @Option(
      names = "--breaker-failure-percent",
      paramLabel = "N",
      defaultValue = "50",
      order = 33,
      description =
          "Share of failures among its answers from which it may rest (default: ${DEFAULT-VALUE}).")
  private String failurePercent;

  @Option(
      names = "--breaker-window-seconds",
      paramLabel = "N",
      defaultValue = "10",
      order = 33,
      description = "The window in which answers are counted (default: ${DEFAULT-VALUE}).")
  private String window;

  @Option(
      names = "--breaker-seconds",
      paramLabel = "N",
      defaultValue = "5",
      order = 34,
      description = "How long a worker rests before the next try (default: ${DEFAULT-VALUE}).")
  private String open;

  @Option(
      names = "--max-ejection-percent",
      paramLabel = "N",
      defaultValue = "10",
      order = 34,
      description =
          "Largest share of a fleet that may rest, and at least one worker"
              + " (default: ${DEFAULT-VALUE}).")
  private String maxEjection;

  @Option(
      names = "--panic-threshold-percent",
      paramLabel = "N",
      defaultValue = "50",
      order = 34,
      description =
          "Where fewer workers of a fleet are left, none rests; 0 for never"
              + " (default: ${DEFAULT-VALUE}).")
  private String panic;

  /** When workers that fail get no requests. */
  BreakerSettings settings() {
    return new BreakerSettings(
        Values.integer("--breaker-failures", failures, 1, MAX_FAILURES),
        Values.integer("--breaker-failure-percent", failurePercent, 1, ALL),
        ServeLimits.milliseconds("--breaker-window-seconds", window),
        ServeLimits.milliseconds("--breaker-seconds", open),
        Values.integer("--max-ejection-percent", maxEjection, 1, ALL),
        Values.integer("--panic-threshold-percent", panic, 0, ALL));
  }
}
