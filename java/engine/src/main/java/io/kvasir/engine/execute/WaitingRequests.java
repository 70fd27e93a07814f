package io.kvasir.engine.execute;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a worker that are not on a rank: the queue, and the progress of each request.
 *
 * <p>Requests of retired ranks are in flight at once but enter the queue only at {@link
 * #queueReturned}. Requests of ranks that retire together thus return in arrival order.
 *
 * <p>Confined to the loop's thread.
 */
final class WaitingRequests {

  private static final Comparator<PlacedRequest> ARRIVAL =
      Comparator.comparingLong(request -> request.arrival);

  private final WaitingQueue queue;
  private final Long2ObjectOpenHashMap<PlacedRequest> byId = new Long2ObjectOpenHashMap<>();
  private final List<PlacedRequest> returned = new ArrayList<>();
  private final List<HashedRequest> hashed = new ArrayList<>();

  WaitingRequests(WaitingQueue queue) {
    this.queue = queue;
  }

  boolean isEmpty() {
    return byId.isEmpty();
  }

  boolean contains(long requestId) {
    return byId.containsKey(requestId);
  }

  void arrive(PlacedRequest request) {
    byId.put(request.request.id(), request);
    queue.enqueue(request.hashed);
  }

  /** Removes one request; null if it is not here. O(size). */
  @Nullable PlacedRequest remove(long requestId) {
    PlacedRequest request = byId.remove(requestId);
    if (request != null && queue.remove(requestId) == null) {
      returned.remove(request);
    }
    return request;
  }

  /** As {@link WaitingQueue#pop}; a popped request stays in flight until {@link #handOver}. */
  void pop(int maxCount, int maxActive, int[] active, List<PlacedRequest> popped) {
    queue.pop(maxCount, maxActive, active, hashed);
    for (int i = 0; i < hashed.size(); i++) {
      popped.add(byId.get(hashed.get(i).request().id()));
    }
    hashed.clear();
  }

  /** Removes a popped request that goes to a rank. */
  void handOver(PlacedRequest request) {
    byId.remove(request.request.id());
  }

  /** Puts popped but unplaced requests back at the front of the queue, in this order. */
  void putBack(List<PlacedRequest> requests) {
    for (int i = 0; i < requests.size(); i++) {
      PlacedRequest request = requests.get(i);
      byId.put(request.request.id(), request);
      hashed.add(request.hashed);
    }
    queue.pushFront(hashed);
    hashed.clear();
  }

  /** Takes back a request of a retired rank. */
  void takeBack(PlacedRequest request) {
    byId.put(request.request.id(), request);
    returned.add(request);
  }

  /** Puts all returned requests at the front of the queue, in arrival order. */
  void queueReturned() {
    if (!returned.isEmpty()) {
      returned.sort(ARRIVAL);
      putBack(returned);
      returned.clear();
    }
  }

  /** Removes all requests for which a test is true; returns them in service order. */
  List<Request> removeIf(Predicate<Request> test) {
    List<Request> removed = new ArrayList<>();
    for (HashedRequest candidate : queue.toList()) {
      if (test.test(candidate.request())) {
        removed.add(candidate.request());
        byId.remove(candidate.request().id());
      }
    }
    if (!removed.isEmpty()) {
      queue.removeIf(test);
    }
    return removed;
  }
}
