package io.kvasir.cli.option;

import io.kvasir.gateway.route.BreakerSettings;

/** Options about workers that fail. */
@Heading(value = Heading.LIMITS, block = Block.HEALTH)
final class BreakerLimits extends DeclaredOptions {

  private static final int MAX_FAILURES = 1 << 20;
  private static final int ALL = 100;

  private final Declared<Integer> failures =
      integer("--breaker-failures", "5", 1, MAX_FAILURES)
          .help(33, "Failures within the window from which a worker may rest; a 500 counts half");

  private final Declared<Integer> failurePercent =
      integer("--breaker-failure-percent", "50", 1, ALL)
          .help(33, "Share of failures among its answers from which it may rest");

  private final Declared<Long> window =
      seconds("--breaker-window-seconds", "10").help(33, "The window in which answers are counted");

  private final Declared<Long> open =
      seconds("--breaker-seconds", "5").help(34, "How long a worker rests before the next try");

  private final Declared<Integer> maxEjection =
      integer("--max-ejection-percent", "10", 1, ALL)
          .help(34, "Largest share of a fleet that may rest, and at least one worker");

  private final Declared<Integer> panic =
      integer("--panic-threshold-percent", "50", 0, ALL)
          .help(34, "Where fewer workers of a fleet are left, none rests; 0 for never");

  /** When workers that fail get no requests. */
  BreakerSettings settings() {
    return new BreakerSettings(
        failures.value(),
        failurePercent.value(),
        window.value(),
        open.value(),
        maxEjection.value(),
        panic.value());
  }
}
