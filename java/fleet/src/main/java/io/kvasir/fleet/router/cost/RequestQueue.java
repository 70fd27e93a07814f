package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The requests that wait for room, in the order in which they go. Guarded by the router's lock. */
final class RequestQueue {

  private static final double NS_PER_SECOND = 1e9;

  private final QueueOptions options;
  private final long startNs;
  private final TreeSet<WaitingRequest> requests = new TreeSet<>();
  private final Long2ObjectOpenHashMap<WaitingRequest> byId = new Long2ObjectOpenHashMap<>();
  private long tokens;
  private long arrivals;

  RequestQueue(QueueOptions options, long startNs) {
    this.options = options;
    this.startNs = startNs;
  }

  boolean isEmpty() {
    return requests.isEmpty();
  }

  int size() {
    return requests.size();
  }

  /** Prompt tokens of all waiting requests. */
  long tokens() {
    return tokens;
  }

  boolean contains(long requestId) {
    return byId.containsKey(requestId);
  }

  /** Why no request may join, or null if one may. O(1). */
  @Nullable Refusal full() {
    if (requests.size() >= options.maxQueuedRequests()) {
      return Refusal.REQUEST_LIMIT;
    }
    return tokens >= options.maxQueuedTokens() ? Refusal.RAW_ISL_TOKEN_LIMIT : null;
  }

  /** Adds a request. O(log requests). */
  WaitingRequest join(
      MatchedRequest matched,
      long uncachedTokens,
      long nowNs,
      CompletableFuture<RouteOutcome> future) {
    double arrivalSeconds = (nowNs - startNs) / NS_PER_SECOND;
    double key =
        options.queuePolicy().key(matched.request().priorityJump(), arrivalSeconds, uncachedTokens);
    WaitingRequest waiting = new WaitingRequest(matched, nowNs, future, arrivals++, key);
    requests.add(waiting);
    byId.put(matched.request().id(), waiting);
    tokens += matched.request().inputTokens();
    return waiting;
  }

  /** Removes a request. O(log requests). Returns false if it does not wait. */
  boolean leave(WaitingRequest waiting) {
    if (!requests.remove(waiting)) {
      return false;
    }
    byId.remove(waiting.request().id());
    tokens -= waiting.request().inputTokens();
    return true;
  }

  /** A copy, in the order in which they go. O(requests). */
  List<WaitingRequest> all() {
    return List.copyOf(requests);
  }

  /** The first request that satisfies a condition, or null. */
  @Nullable WaitingRequest first(Predicate<WaitingRequest> condition) {
    for (WaitingRequest waiting : requests) {
      if (condition.test(waiting)) {
        return waiting;
      }
    }
    return null;
  }
}
