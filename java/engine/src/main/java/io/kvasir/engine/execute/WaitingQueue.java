package io.kvasir.engine.execute;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * The requests of a worker that no rank has yet.
 *
 * <p>Who is popped is a pure function of the queue's history and the arguments, so that every rank
 * that keeps a copy pops the same. Not thread-safe.
 */
public abstract sealed class WaitingQueue permits FcfsQueue, PriorityQueue {

  private final ArrayList<HashedRequest> setAside = new ArrayList<>();
  private int[] active = new int[8];

  WaitingQueue() {}

  /**
   * Adds a request as the newest arrival. O(1), or O(log size) by priority.
   *
   * @param request the request
   */
  public abstract void enqueue(HashedRequest request);

  /**
   * Puts requests back in front of the others (by priority: in front of their equals), keeping
   * their order.
   *
   * @param requests the requests, first one first
   */
  public abstract void pushFront(List<HashedRequest> requests);

  /**
   * Removes one request wherever it stands. O(size).
   *
   * @param requestId its id
   * @return the request, or null if it is not here
   */
  public abstract HashedRequest remove(long requestId);

  /**
   * Number of requests, whatever their weight.
   *
   * @return at least 0
   */
  public abstract int size();

  /**
   * The requests in the order in which they would be served. O(size), or O(size log size).
   *
   * @return a new list
   */
  public abstract List<HashedRequest> toList();

  /** Removes every request that a test is true of. O(size), or O(size log size). */
  abstract void removeIf(Predicate<Request> test);

  abstract HashedRequest peek();

  abstract HashedRequest poll();

  /**
   * Whether nobody waits.
   *
   * @return true if {@link #size()} is 0
   */
  public final boolean isEmpty() {
    return size() == 0;
  }

  /**
   * Takes requests from the head. A request weighs 1 plus its children; the first that does not fit
   * into what is left of {@code maxCount} ends the call, nobody overtakes it. A request that
   * insists on a rank ({@link Request#relax()} false) which is full is passed over at no cost and
   * stands at the front again afterwards, in order. O(popped + passed over).
   *
   * @param maxCount weight to take at most; nothing is taken if it is less than 1
   * @param maxActiveRequests requests a rank may hold
   * @param activeRequests requests each rank holds; not changed
   * @param popped receives the requests, in order
   * @throws IndexOutOfBoundsException if a strict request names a rank that is not there
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

  /** Whether the rank that a request insists on, if any, has room; if so, the room is taken. */
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
