package io.kvasir.engine.execute;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Highest priority first. Among equal priorities, returned requests precede new ones, and new ones
 * keep arrival order.
 *
 * <p>New requests are numbered 0, 1, 2 and so on, returned ones -1, -2 and so on. The heap orders
 * by descending priority, then by that number. Not thread-safe.
 */
public final class PriorityQueue extends WaitingQueue {

  private static final Comparator<Entry> SERVICE_ORDER =
      Comparator.<Entry>comparingDouble(entry -> 0.0 - entry.request.request().priority())
          .thenComparingLong(entry -> entry.number);

  private final java.util.PriorityQueue<Entry> heap = new java.util.PriorityQueue<>(SERVICE_ORDER);
  private long nextArrival;
  private long nextReturn = -1;

  /** Makes an empty queue. */
  public PriorityQueue() {}

  @Override
  public void enqueue(HashedRequest request) {
    heap.add(new Entry(request, nextArrival++));
  }

  @Override
  public void pushFront(List<HashedRequest> returned) {
    for (int i = returned.size() - 1; i >= 0; i--) {
      heap.add(new Entry(returned.get(i), nextReturn--));
    }
  }

  @Override
  public @Nullable HashedRequest remove(long requestId) {
    for (Iterator<Entry> all = heap.iterator(); all.hasNext(); ) {
      HashedRequest candidate = all.next().request;
      if (candidate.request().id() == requestId) {
        all.remove();
        return candidate;
      }
    }
    return null;
  }

  @Override
  public int size() {
    return heap.size();
  }

  @Override
  public List<HashedRequest> toList() {
    return heap.stream().sorted(SERVICE_ORDER).map(entry -> entry.request).toList();
  }

  @Override
  void removeIf(Predicate<Request> test) {
    heap.removeIf(candidate -> test.test(candidate.request.request()));
  }

  @Override
  @Nullable HashedRequest peek() {
    Entry head = heap.peek();
    return head == null ? null : head.request;
  }

  @Override
  @Nullable HashedRequest poll() {
    Entry head = heap.poll();
    return head == null ? null : head.request;
  }

  private record Entry(HashedRequest request, long number) {}
}
