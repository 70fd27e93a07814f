package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A request that waits for room. Guarded by the router's lock, except for its future. */
final class WaitingRequest implements Comparable<WaitingRequest> {

  private static final double NS_PER_MS = 1e6;

  private final long arrivedNs;
  private final CompletableFuture<RouteOutcome> future;
  private final long sequence;
  private final double promptMs;
  private final boolean hasDeadline;
  private final double key;
  private boolean behind;
  private MatchedRequest matched;
  private long matchedNs;

  /**
   * A request that starts to wait.
   *
   * @param sequence a number that grows from one arrival to the next
   * @param policy the policy of the queue
   * @param key the policy's key; the highest goes first
   * @param promptMs the time to compute it, in milliseconds; 0 if unknown
   */
  WaitingRequest(
      MatchedRequest matched,
      long arrivedNs,
      CompletableFuture<RouteOutcome> future,
      long sequence,
      QueuePolicy policy,
      double key,
      double promptMs) {
    this.matched = matched;
    this.arrivedNs = arrivedNs;
    this.matchedNs = arrivedNs;
    this.future = future;
    this.sequence = sequence;
    this.promptMs = promptMs;
    this.hasDeadline = policy == QueuePolicy.EDF;
    this.behind = hasDeadline && Double.isInfinite(request().targets().ttftMs());
    this.key = key;
  }

  MatchedRequest matched() {
    return matched;
  }

  FleetRequest request() {
    return matched.request();
  }

  RankFilter filter() {
    return request().filter();
  }

  long arrivedNs() {
    return arrivedNs;
  }

  CompletableFuture<RouteOutcome> future() {
    return future;
  }

  /** The time to compute it when it arrived, in milliseconds; 0 if unknown. */
  double promptMs() {
    return promptMs;
  }

  /** The time until its deadline, in milliseconds; negative if that has passed. */
  double leftMs(long nowNs) {
    return request().targets().ttftMs() - (nowNs - arrivedNs) / NS_PER_MS;
  }

  /** Whether it goes after all that can meet a deadline: it has none, or was given up. */
  boolean isBehind() {
    return behind;
  }

  /** It will miss its deadline. It must not be in a sorted collection meanwhile. */
  void giveUp() {
    behind = true;
  }

  void refresh(MatchedRequest fresh, long nowNs) {
    matched = fresh;
    matchedNs = nowNs;
  }

  boolean isStale(long nowNs, long afterNs) {
    return afterNs > 0 && nowNs - matchedNs > afterNs;
  }

  /**
   * Requests that can meet their deadlines come first, in the order of the deadlines. The others go
   * by priority, then by key, the highest first, then by arrival.
   */
  @Override
  public int compareTo(WaitingRequest other) {
    if (behind != other.behind) {
      return behind ? 1 : -1;
    }
    boolean byDeadline = hasDeadline && !behind;
    int byPriority = Integer.compare(other.request().strictPriority(), request().strictPriority());
    if (byPriority != 0 && !byDeadline) {
      return byPriority;
    }
    int byKey = behind ? 0 : Double.compare(other.key, key);
    return byKey != 0 ? byKey : Long.compare(sequence, other.sequence);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(sequence);
  }
}
