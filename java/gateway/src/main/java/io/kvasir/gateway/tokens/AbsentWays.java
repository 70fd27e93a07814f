package io.kvasir.gateway.tokens;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The ways to make tokens that a worker lacks, or that failed a moment ago. Valid until the worker
 * recovers, with other options perhaps. Thread-safe.
 */
final class AbsentWays {

  /** How long a way that failed is not asked, so that not every request waits for its limit. */
  private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(5);

  private static final long FOR_EVER = Long.MAX_VALUE;

  private final int recoveries;

  /** When a pause of each way began. */
  private final Map<String, Long> pauses = new ConcurrentHashMap<>();

  AbsentWays(int recoveries) {
    this.recoveries = recoveries;
  }

  /** Whether the worker has recovered as often as when this was learned. */
  boolean isOf(int now) {
    return recoveries == now;
  }

  /** Whether a way can be asked. */
  boolean has(String way, long nowNs) {
    Long since = pauses.get(way);
    return since == null || (since != FOR_EVER && nowNs - since >= PAUSE_NS);
  }

  /** The worker does not have a way. */
  void add(String way) {
    pauses.put(way, FOR_EVER);
  }

  /** A way failed. */
  void pause(String way, long nowNs) {
    pauses.put(way, nowNs);
  }
}
