package io.kvasir.engine.execute;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a worker that are not placed yet.
 *
 * <p>The result of {@link #pop} is a pure function of the queue's history and the arguments, so all
 * processes that keep a copy pop the same requests. Not thread-safe.
 */
public abstract sealed class WaitingQueue permits FcfsQueue, PriorityQueue {

  private final ArrayList<HashedRequest> setAside = new ArrayList<>();
  private int[] active = new int[8];

  WaitingQueue() {}

  /**
   * Adds a request as the newest one. O(1), or O(log size) by priority.
   *
   * @param request the request
   */
  public abstract void enqueue(HashedRequest request);

  /**
   * Returns requests to the front of the queue, or to the front of their priority, in the given
   * order.
   *
   * @param requests the requests, in order
   */
  public abstract void pushFront(List<HashedRequest> requests);

  /**
   * Removes one request at any position. O(size).
   *
   * @param requestId its id
   * @return the request, or null if it is not here
   */
  public abstract @Nullable HashedRequest remove(long requestId);

  /** {@return the number of requests, at least 0; children are not counted} */
  public abstract int size();

  /**
   * The requests in service order. O(size), or O(size log size).
   *
   * @return a new list
   */
  public abstract List<HashedRequest> toList();

  /** Removes every request for which a test is true. O(size), or O(size log size). */
  abstract void removeIf(Predicate<Request> test);

  abstract @Nullable HashedRequest peek();

  abstract @Nullable HashedRequest poll();

  /** {@return whether the queue is empty; true if {@link #size()} is 0} */
  public final boolean isEmpty() {
    return size() == 0;
  }

  /**
   * Takes requests from the head. A request weighs 1 plus its children. The first request that
   * exceeds the rest of {@code maxCount} ends the call, and no request overtakes it. A request with
   * a strict target rank ({@link Request#relax()} false) that is full is skipped at no cost and
   * stays at the front, in order. O(popped + skipped).
   *
   * @param maxCount most weight to take; nothing is taken if it is less than 1
   * @param maxActiveRequests most requests on a rank
   * @param activeRequests current requests of each rank; not changed
   * @param popped receives the requests, in order
   * @throws IndexOutOfBoundsException if a strict request names a rank that does not exist
   */
  public final void pop(
      int maxCount, int maxActiveRequests, int[] activeRequests, List<HashedRequest> popped) {
    if (maxCount < 1 || isEmpty()) {
      return;
    }
    int ranks = activeRequests.length;
    if (active.length < ranks) {
      active = new int[ranks];
    }
    System.arraycopy(activeRequests, 0, active, 0, ranks);
    int room = maxCount;
    for (HashedRequest head = peek(); head != null && room > 0; head = peek()) {
      Request request = head.request();
      if (request.children() >= room) {
        break;
      }
      boolean admissible = admissible(request, maxActiveRequests, ranks);
      poll();
      if (!admissible) {
        setAside.add(head);
      } else {
        popped.add(head);
        room -= 1 + request.children();
      }
    }
    if (!setAside.isEmpty()) {
      pushFront(setAside);
      setAside.clear();
    }
  }

  /** Whether the strict target rank of a request, if any, has room; if so, the room is taken. */
  private boolean admissible(Request request, int maxActiveRequests, int ranks) {
    if (request.relax() || request.targetRank() == Request.ANY_RANK) {
      return true;
    }
    int rank = Objects.checkIndex(request.targetRank(), ranks);
    if (active[rank] >= maxActiveRequests) {
      return false;
    }
    active[rank]++;
    return true;
  }
}
