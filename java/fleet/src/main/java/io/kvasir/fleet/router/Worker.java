package io.kvasir.fleet.router;

import io.kvasir.model.RankId;
import java.util.LinkedHashSet;
import java.util.Set;

/** A worker as a {@link WorkerRouter} sees it. Guarded by the router's lock. */
public class Worker {

  private final RankId id;
  private final Set<RankId> ranks = new LinkedHashSet<>();
  private long load;
  private int activeRequests;

  /**
   * Makes a worker without ranks and load.
   *
   * @param workerId its id
   */
  public Worker(long workerId) {
    this.id = RankId.anyOf(workerId);
  }

  /** {@return the worker as placements name it; any of its ranks} */
  public final RankId id() {
    return id;
  }

  /** {@return the load that the router has placed here, in the policy's own unit; at least 0} */
  public final long load() {
    return load;
  }

  /** {@return the number of attempts in flight, at least 0} */
  public final int activeRequests() {
    return activeRequests;
  }

  /**
   * Whether one of the worker's ranks may serve a request. O(ranks of the worker).
   *
   * @param filter the request's filter
   * @return false if the pin, the allowed workers or the exclusions rule out every rank
   */
  public final boolean isAllowedBy(RankFilter filter) {
    if (filter.isAny()) {
      return true;
    }
    for (RankId rank : ranks) {
      if (filter.allows(asPinned(rank, filter))) {
        return true;
      }
    }
    return false;
  }

  /** Whether the worker has the rank that a filter demands. */
  final boolean isPinnedBy(RankFilter filter) {
    return ranks.stream().anyMatch(rank -> filter.pins(asPinned(rank, filter)));
  }

  /** A worker that was added as a whole has every rank. */
  private static RankId asPinned(RankId rank, RankFilter filter) {
    return rank.isAny() && filter.pinnedRank() != null
        ? new RankId(rank.workerId(), filter.pinnedRank())
        : rank;
  }

  final Set<RankId> ranks() {
    return ranks;
  }

  final void book(long weight) {
    load += weight;
    activeRequests++;
  }

  final void release(long weight) {
    load -= weight;
    activeRequests--;
  }
}
