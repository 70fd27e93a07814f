package io.kvasir.gateway.tokens;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * The ways to make tokens that a worker or renderer lacks, or that failed a moment ago. Valid until
 * it recovers, with other options perhaps. Until then, one request in {@value #RETRY_MINUTES}
 * minutes asks in a way that is lacking: a restart can be too quick to be seen. Thread-safe.
 */
final class AbsentWays {

  /** How long a way that failed is not asked, so that not every request waits for its limit. */
  private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(5);

  /** How long a way that is lacking is not asked. */
  private static final long RETRY_MINUTES = 3;

  private static final long RETRY_NS = TimeUnit.MINUTES.toNanos(RETRY_MINUTES);

  private static final int BAD_REQUEST = 400;
  private static final int UNPROCESSABLE = 422;

  private final long lives;

  /** When each way that is lacking was asked last. */
  private final Map<String, Long> missing = new ConcurrentHashMap<>();

  /** Ways that have answered. */
  private final Set<String> present = ConcurrentHashMap.newKeySet();

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

  AbsentWays(long lives) {
    this.lives = lives;
  }

  /** Whether it has started as often as when this was learned. */
  boolean isOf(long now) {
    return lives == now;
  }

  /**
   * Whether a way is to be asked a question of some bytes. Of a way that is lacking it says so once
   * in a while, and never to two requests at once.
   */
  boolean takes(String way, IntSupplier bytes, long nowNs) {
    Pause pause = pauses.get(way);
    if (pause != null && !pause.isOver(nowNs) && bytes.getAsInt() >= pause.bytes / 2) {
      return false;
    }
    Long askedNs = missing.get(way);
    return askedNs == null || (nowNs - askedNs >= RETRY_NS && missing.replace(way, askedNs, nowNs));
  }

  /** The maker does not have a way. Returns false if that was known. */
  boolean add(String way, long nowNs) {
    return missing.put(way, nowNs) == null;
  }

  /** The maker has answered in a way. Returns whether it was lacking. */
  boolean remove(String way) {
    present.add(way);
    boolean lacked = missing.remove(way) != null;
    if (lacked) {
      named.clear();
    }
    return lacked;
  }

  /**
   * Whether an answer means that the maker does not have a way. The refusal of one question does
   * not, once others were answered: the question is at fault.
   */
  boolean isAbsence(String way, int status) {
    return !(present.contains(way) && (status == BAD_REQUEST || status == UNPROCESSABLE));
  }

  /** Whether the maker does not have a way. */
  boolean isMissing(String way) {
    return missing.containsKey(way);
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
