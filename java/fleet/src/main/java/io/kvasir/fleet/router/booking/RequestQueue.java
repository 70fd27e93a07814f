package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The requests that wait for room, in the order in which they go. Guarded by the router's lock. */
final class RequestQueue {

  private static final double NS_PER_SECOND = 1e9;
  private static final double MS_PER_SECOND = 1e3;

  /**
   * Under EDF, the part of the computing time that is set aside for requests behind, in the order
   * in which they got there. So the first of them waits at most until the others that leave have
   * been given 1 / FLOOR times its own time, and then for room on a rank that may serve it.
   */
  private static final double FLOOR = 1.0 / 32;

  private final QueueOptions options;
  private final long startNs;
  private final TreeSet<WaitingRequest> requests = new TreeSet<>();
  private final Long2ObjectOpenHashMap<WaitingRequest> byId = new Long2ObjectOpenHashMap<>();

  /** Under EDF: those that go behind, in the order in which they got there. */
  private final Set<WaitingRequest> behind = new LinkedHashSet<>();

  /** The time to compute those behind. */
  private double behindMs;

  /** The time set aside for those behind, at most the time of all of them. */
  private double creditMs;

  /** The request that {@link #next} has found among those behind. */
  private @Nullable WaitingRequest due;

  /** Requests with each filter. */
  private final Object2IntOpenHashMap<RankFilter> filters = new Object2IntOpenHashMap<>();

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

  /** Whether a request may join once another one has left. O(1). */
  boolean hasRoomWithout(WaitingRequest leaving) {
    return requests.size() <= options.maxQueuedRequests()
        && tokens - leaving.request().inputTokens() < options.maxQueuedTokens();
  }

  /** Makes a request that may join. */
  WaitingRequest newcomer(
      MatchedRequest matched,
      long uncachedTokens,
      double promptMs,
      long nowNs,
      CompletableFuture<RouteOutcome> future) {
    QueuePolicy policy = options.queuePolicy();
    double arrivalSeconds = (nowNs - startNs) / NS_PER_SECOND;
    FleetRequest request = matched.request();
    double targetSeconds = request.targets().ttftMs() / MS_PER_SECOND;
    double key = policy.key(request.priorityJump(), arrivalSeconds, uncachedTokens, targetSeconds);
    return new WaitingRequest(matched, nowNs, future, arrivals++, policy, key, promptMs);
  }

  /** Adds a request. O(log requests). */
  void join(WaitingRequest waiting) {
    requests.add(waiting);
    if (waiting.isBehind()) {
      goBehind(waiting);
    }
    filters.addTo(waiting.filter(), 1);
    byId.put(waiting.request().id(), waiting);
    tokens += waiting.request().inputTokens();
  }

  /** A request will miss its deadline: it goes behind. O(log requests). */
  void giveUp(WaitingRequest waiting) {
    requests.remove(waiting);
    waiting.giveUp();
    requests.add(waiting);
    goBehind(waiting);
  }

  private void goBehind(WaitingRequest waiting) {
    behind.add(waiting);
    behindMs += work(waiting);
  }

  /**
   * Under EDF, the last request, if it goes behind and another one would go before it; else null.
   * O(log requests).
   */
  @Nullable WaitingRequest displaced(WaitingRequest newcomer) {
    WaitingRequest last = requests.isEmpty() ? null : requests.last();
    return last != null && last.isBehind() && newcomer.compareTo(last) < 0 ? last : null;
  }

  /** The requests in the order in which they go; a view. */
  Iterable<WaitingRequest> inOrder() {
    return Collections.unmodifiableSet(requests);
  }

  /** Removes a request. O(log requests). Returns false if it does not wait. */
  boolean leave(WaitingRequest waiting) {
    if (!requests.remove(waiting)) {
      return false;
    }
    if (behind.remove(waiting)) {
      behindMs = behind.isEmpty() ? 0 : behindMs - work(waiting);
    }
    creditMs = Math.min(creditMs, behindMs);
    if (filters.addTo(waiting.filter(), -1) == 1) {
      filters.removeInt(waiting.filter());
    }
    byId.remove(waiting.request().id());
    tokens -= waiting.request().inputTokens();
    return true;
  }

  /** A copy, in the order in which they go. O(requests). */
  List<WaitingRequest> all() {
    return List.copyOf(requests);
  }

  /** The filters of the waiting requests. */
  Set<RankFilter> filters() {
    return filters.keySet();
  }

  /**
   * The request that goes next among those that have room, or null: the first one behind that the
   * time set aside suffices for, or that of a plan, or the first one.
   */
  @Nullable WaitingRequest next(Predicate<WaitingRequest> hasRoom, @Nullable DeadlinePlan plan) {
    due = due(hasRoom);
    if (due != null) {
      return due;
    }
    WaitingRequest inTime = plan == null ? null : plan.next(hasRoom);
    return inTime == null ? first(requests, hasRoom) : inTime;
  }

  /**
   * The time set aside stays reserved for requests without room. O(requests behind that it suffices
   * for).
   */
  private @Nullable WaitingRequest due(Predicate<WaitingRequest> hasRoom) {
    double neededMs = 0;
    for (WaitingRequest waiting : behind) {
      neededMs += work(waiting);
      if (neededMs > creditMs) {
        return null;
      }
      if (hasRoom.test(waiting)) {
        return waiting;
      }
    }
    return null;
  }

  /** A request that {@link #next} returned last leaves to be placed. */
  void take(WaitingRequest next) {
    if (next.equals(due)) {
      creditMs -= work(next);
    } else {
      creditMs += FLOOR * work(next);
    }
    leave(next);
  }

  private static double work(WaitingRequest waiting) {
    return waiting.promptMs() > 0 ? waiting.promptMs() : 1;
  }

  private static @Nullable WaitingRequest first(
      Iterable<WaitingRequest> requests, Predicate<WaitingRequest> condition) {
    for (WaitingRequest waiting : requests) {
      if (condition.test(waiting)) {
        return waiting;
      }
    }
    return null;
  }
}
