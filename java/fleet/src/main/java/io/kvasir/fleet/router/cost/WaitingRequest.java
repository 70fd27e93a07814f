package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.RankFilter;
import java.util.concurrent.CompletableFuture;

/** A request that waits for room. Guarded by the scheduler's lock, but for its future. */
final class WaitingRequest implements Comparable<WaitingRequest> {

  private final SelectionRequest request;
  private final long arrivedNs;
  private final CompletableFuture<SelectionOutcome> future;
  private final double key;
  private final long sequence;
  private RankMatches matches;
  private long matchedNs;

  /**
   * Begins to wait.
   *
   * @param sequence a number that grows from one arrival to the next
   * @param key of the policy; the highest goes first
   */
  WaitingRequest(
      SelectionRequest request,
      RankMatches matches,
      long arrivedNs,
      CompletableFuture<SelectionOutcome> future,
      long sequence,
      double key) {
    this.request = request;
    this.matches = matches;
    this.arrivedNs = arrivedNs;
    this.matchedNs = arrivedNs;
    this.future = future;
    this.sequence = sequence;
    this.key = key;
  }

  SelectionRequest request() {
    return request;
  }

  RankFilter filter() {
    return request.filter();
  }

  long arrivedNs() {
    return arrivedNs;
  }

  CompletableFuture<SelectionOutcome> future() {
    return future;
  }

  RankMatches matches() {
    return matches;
  }

  void setMatches(RankMatches fresh, long nowNs) {
    matches = fresh;
    matchedNs = nowNs;
  }

  boolean isStale(long nowNs, long afterNs) {
    return afterNs > 0 && nowNs - matchedNs > afterNs;
  }

  /** Who goes first comes first: the higher priority, the higher key, the earlier arrival. */
  @Override
  public int compareTo(WaitingRequest other) {
    int byPriority = Integer.compare(other.request.strictPriority(), request.strictPriority());
    if (byPriority != 0) {
      return byPriority;
    }
    int byKey = Double.compare(other.key, key);
    return byKey != 0 ? byKey : Long.compare(sequence, other.sequence);
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(sequence);
  }
}
