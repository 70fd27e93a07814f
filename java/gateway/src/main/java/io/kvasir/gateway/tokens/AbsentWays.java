package io.kvasir.gateway.tokens;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The ways to make tokens that a worker or renderer lacks, or that failed a moment ago. Valid until
 * it recovers, with other options perhaps. Thread-safe.
 */
final class AbsentWays {

  /** How long a way that failed is not asked, so that not every request waits for its limit. */
  private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(5);

  private final int recoveries;
  private final Set<String> missing = ConcurrentHashMap.newKeySet();
  private final Set<String> named = ConcurrentHashMap.newKeySet();
  private final Map<String, Pause> pauses = new ConcurrentHashMap<>();

  /**
   * A failure of a way. Time grows with the size of a question, so the failure of a long one says
   * nothing about much shorter ones: those under half its size are asked. Each that fails, too,
   * halves that bound, so an endpoint that hangs costs few limits in a pause.
   *
   * @param sinceNs when it failed
   * @param bytes size of the smallest question that failed
   */
  private record Pause(long sinceNs, int bytes) {

    boolean isOver(long nowNs) {
      return nowNs - sinceNs >= PAUSE_NS;
    }
  }

  AbsentWays(int recoveries) {
    this.recoveries = recoveries;
  }

  /** Whether it has recovered as often as when this was learned. */
  boolean isOf(int now) {
    return recoveries == now;
  }

  /** Whether a way can be asked a question of some bytes. */
  boolean has(String way, int bytes, long nowNs) {
    Pause pause = pauses.get(way);
    return !missing.contains(way)
        && (pause == null || pause.isOver(nowNs) || bytes < pause.bytes / 2);
  }

  /** The maker does not have a way. Returns false if that was known. */
  boolean add(String way) {
    return missing.add(way);
  }

  /** Whether the maker does not have a way. */
  boolean isMissing(String way) {
    return missing.contains(way);
  }

  /** Whether requests of a path lack tokens for the first time. */
  boolean isFirst(String path) {
    return named.add(path);
  }

  /** A way failed to answer a question of some bytes. */
  void pause(String way, int bytes, long nowNs) {
    pauses.compute(
        way,
        (key, before) -> {
          boolean first = before == null || before.isOver(nowNs);
          return new Pause(nowNs, first ? bytes : Math.min(bytes, before.bytes));
        });
  }
}
