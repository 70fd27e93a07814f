package io.kvasir.engine.execute;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * First come, first served. Priorities have no effect; the first request with a priority is logged
 * as a warning.
 *
 * <p>Not thread-safe.
 */
public final class FcfsQueue extends WaitingQueue {

  private static final Logger LOG = LoggerFactory.getLogger(FcfsQueue.class);
  private static final double DEFAULT_PRIORITY = 0.5;

  private final ArrayDeque<HashedRequest> requests = new ArrayDeque<>();
  private boolean warned;

  /** Makes an empty queue. */
  public FcfsQueue() {}

  @Override
  public void enqueue(HashedRequest request) {
    if (!warned && request.request().priority() != DEFAULT_PRIORITY) {
      warned = true;
      LOG.warn(
          "Request {} has priority {}, which the queue policy fcfs ignores",
          request.request().id(),
          request.request().priority());
    }
    requests.addLast(request);
  }

  @Override
  public void pushFront(List<HashedRequest> returned) {
    for (int i = returned.size() - 1; i >= 0; i--) {
      requests.addFirst(returned.get(i));
    }
  }

  @Override
  public @Nullable HashedRequest remove(long requestId) {
    for (Iterator<HashedRequest> all = requests.iterator(); all.hasNext(); ) {
      HashedRequest candidate = all.next();
      if (candidate.request().id() == requestId) {
        all.remove();
        return candidate;
      }
    }
    return null;
  }

  @Override
  public int size() {
    return requests.size();
  }

  @Override
  public List<HashedRequest> toList() {
    return new ArrayList<>(requests);
  }

  @Override
  void removeIf(Predicate<Request> test) {
    requests.removeIf(candidate -> test.test(candidate.request()));
  }

  @Override
  HashedRequest peek() {
    return requests.peekFirst();
  }

  @Override
  HashedRequest poll() {
    return requests.pollFirst();
  }
}
