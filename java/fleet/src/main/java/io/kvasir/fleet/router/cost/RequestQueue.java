package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
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
   * Under EDF, the part of the computing time that goes to requests behind that have room, in the
   * order in which they got there. So the first of them waits at most until the others that leave
   * have been given 1 / FLOOR times its own time.
   */
  private static final double FLOOR = 1.0 / 32;

  private final QueueOptions options;
  private final long startNs;
  private final TreeSet<WaitingRequest> requests = new TreeSet<>();
  private final Long2ObjectOpenHashMap<WaitingRequest> byId = new Long2ObjectOpenHashMap<>();

  /** Under EDF: those that go behind, in the order in which they got there. */
  private final Set<WaitingRequest> behind = new LinkedHashSet<>();

  private double creditMs;
  private @Nullable WaitingRequest oldestWithRoom;
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
      behind.add(waiting);
    }
    byId.put(waiting.request().id(), waiting);
    tokens += waiting.request().inputTokens();
  }

  /** A request will miss its deadline: it goes behind. O(log requests). */
  void giveUp(WaitingRequest waiting) {
    requests.remove(waiting);
    waiting.giveUp();
    requests.add(waiting);
    behind.add(waiting);
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
    behind.remove(waiting);
    byId.remove(waiting.request().id());
    tokens -= waiting.request().inputTokens();
    return true;
  }

  /** A copy, in the order in which they go. O(requests). */
  List<WaitingRequest> all() {
    return List.copyOf(requests);
  }

  /**
   * The request that goes next among those that have room, or null: the first one, that of a plan
   * or, where its turn has come, the one that has been behind for longest.
   */
  @Nullable WaitingRequest next(Predicate<WaitingRequest> hasRoom, @Nullable DeadlinePlan plan) {
    oldestWithRoom = first(behind, hasRoom);
    if (oldestWithRoom != null && creditMs >= work(oldestWithRoom)) {
      return oldestWithRoom;
    }
    WaitingRequest inTime = plan == null ? null : plan.next(hasRoom);
    return inTime == null ? first(requests, hasRoom) : inTime;
  }

  /** A request that {@link #next} returned last leaves to be placed. */
  void take(WaitingRequest next) {
    leave(next);
    WaitingRequest oldest = oldestWithRoom;
    if (oldest == null) {
      creditMs = 0;
    } else if (next.equals(oldest)) {
      creditMs = Math.max(0, creditMs - work(next));
    } else {
      creditMs = Math.min(work(oldest), creditMs + FLOOR * work(next));
    }
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
