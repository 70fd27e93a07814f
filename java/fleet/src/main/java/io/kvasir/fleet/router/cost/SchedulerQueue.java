package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.Refusal;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/** The requests that wait for room, by who goes first. Guarded by the scheduler's lock. */
final class SchedulerQueue {

  private static final double NS_PER_SECOND = 1e9;

  private final QueueOptions options;
  private final long startNs;
  private final TreeSet<WaitingRequest> line = new TreeSet<>();
  private final Long2ObjectOpenHashMap<WaitingRequest> byId = new Long2ObjectOpenHashMap<>();
  private long tokens;
  private long arrivals;

  SchedulerQueue(QueueOptions options, long startNs) {
    this.options = options;
    this.startNs = startNs;
  }

  boolean isEmpty() {
    return line.isEmpty();
  }

  int size() {
    return line.size();
  }

  /** Prompt tokens of all who wait. */
  long tokens() {
    return tokens;
  }

  boolean contains(long requestId) {
    return byId.containsKey(requestId);
  }

  /** Why nobody may join, or null if one may. O(1). */
  Refusal full() {
    if (line.size() >= options.maxQueuedRequests()) {
      return Refusal.REQUEST_LIMIT;
    }
    return tokens >= options.maxQueuedTokens() ? Refusal.RAW_ISL_TOKEN_LIMIT : null;
  }

  /** Lets a request join. O(log requests). */
  WaitingRequest join(
      SelectionRequest request,
      RankMatches matches,
      long uncachedTokens,
      long nowNs,
      CompletableFuture<SelectionOutcome> future) {
    double key =
        options
            .queuePolicy()
            .key(request.priorityJump(), (nowNs - startNs) / NS_PER_SECOND, uncachedTokens);
    WaitingRequest waiting = new WaitingRequest(request, matches, nowNs, future, arrivals++, key);
    line.add(waiting);
    byId.put(request.requestId(), waiting);
    tokens += request.inputTokens();
    return waiting;
  }

  /** Lets a request leave. O(log requests). Returns false if it does not wait. */
  boolean leave(WaitingRequest waiting) {
    if (!line.remove(waiting)) {
      return false;
    }
    byId.remove(waiting.request().requestId());
    tokens -= waiting.request().inputTokens();
    return true;
  }

  /** Who waits under an id, or null. */
  WaitingRequest find(long requestId) {
    return byId.get(requestId);
  }

  /** The first of whom something is true, or null. */
  WaitingRequest first(Predicate<WaitingRequest> wanted) {
    for (WaitingRequest waiting : line) {
      if (wanted.test(waiting)) {
        return waiting;
      }
    }
    return null;
  }
}
