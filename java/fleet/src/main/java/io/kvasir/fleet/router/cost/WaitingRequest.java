package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A request that waits for room. Guarded by the router's lock, except for its future. */
final class WaitingRequest implements Comparable<WaitingRequest> {

  private final long arrivedNs;
  private final CompletableFuture<RouteOutcome> future;
  private final double key;
  private final long sequence;
  private MatchedRequest matched;
  private long matchedNs;

  /**
   * A request that starts to wait.
   *
   * @param sequence a number that grows from one arrival to the next
   * @param key the queue policy's key; the highest goes first
   */
  WaitingRequest(
      MatchedRequest matched,
      long arrivedNs,
      CompletableFuture<RouteOutcome> future,
      long sequence,
      double key) {
    this.matched = matched;
    this.arrivedNs = arrivedNs;
    this.matchedNs = arrivedNs;
    this.future = future;
    this.sequence = sequence;
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

  void refresh(MatchedRequest fresh, long nowNs) {
    matched = fresh;
    matchedNs = nowNs;
  }

  boolean isStale(long nowNs, long afterNs) {
    return afterNs > 0 && nowNs - matchedNs > afterNs;
  }

  /** First comes the higher priority, then the higher key, then the earlier arrival. */
  @Override
  public int compareTo(WaitingRequest other) {
    int byPriority = Integer.compare(other.request().strictPriority(), request().strictPriority());
    if (byPriority != 0) {
      return byPriority;
    }
    int byKey = Double.compare(other.key, key);
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
