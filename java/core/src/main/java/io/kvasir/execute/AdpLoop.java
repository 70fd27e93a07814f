package io.kvasir.execute;

import io.kvasir.hash.HashedRequest;
import io.kvasir.pool.PrefixMatcher;
import io.kvasir.route.AdpRouter;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.List;

/**
 * The loop of one instance: all ranks iterate in lock-step.
 *
 * <p>An iteration acts on cancellations, pops the waiting queue up to the room there is, matches
 * the popped prompts on every rank, asks the router, hands the requests over, and lets every rank
 * that holds requests step. It lasts as long as the slowest rank's step, and what the steps produce
 * is told at its end. Steps that nobody would notice are left out: the states are gathered, matched
 * and routed only when something was popped, and a rank without requests costs two loads.
 *
 * <p>A listener may call {@link #submit} and {@link #cancel} from within an iteration. Confined to
 * the thread that drives the loop.
 */
public final class AdpLoop {

  private final RankExecutor[] executors;
  private final WaitingQueue queue;
  private final RequestListener listener;
  private final int maxActiveRequests;
  private final Placement placement;

  private final LongOpenHashSet waitingIds = new LongOpenHashSet();
  private final LongLinkedOpenHashSet cancelled = new LongLinkedOpenHashSet();

  /**
   * Makes the loop of an instance. It closes none of its parts.
   *
   * @param executors one executor for each rank, in rank order, all with the same request cap,
   *     block size and block reuse
   * @param router places requests
   * @param matcher looks prompts up in the executors' pools, in the same order
   * @param queue holds requests until a rank takes them; empty
   * @param listener hears what becomes of requests; the one that the executors have
   * @throws IllegalArgumentException if there is no executor, or they are out of order or differ,
   *     or the queue is not empty
   */
  public AdpLoop(
      List<RankExecutor> executors,
      AdpRouter router,
      PrefixMatcher matcher,
      WaitingQueue queue,
      RequestListener listener) {
    if (executors.isEmpty() || !queue.isEmpty()) {
      throw new IllegalArgumentException("an instance needs executors and an empty queue");
    }
    this.executors = executors.toArray(RankExecutor[]::new);
    requireAlike(this.executors);
    this.maxActiveRequests = this.executors[0].options().maxActiveRequests();
    this.queue = queue;
    this.listener = listener;
    this.placement = new Placement(this.executors, router, matcher, queue, listener);
  }

  private static void requireAlike(RankExecutor[] executors) {
    ExecutorOptions options = executors[0].options();
    for (int rank = 0; rank < executors.length; rank++) {
      RankExecutor executor = executors[rank];
      if (executor.rank() != rank) {
        throw new IllegalArgumentException(
            "executor " + rank + " must be of rank " + rank + ", not " + executor.rank());
      }
      if (executor.options().maxActiveRequests() != options.maxActiveRequests()
          || executor.options().enableBlockReuse() != options.enableBlockReuse()
          || executor.tokensPerBlock() != executors[0].tokensPerBlock()) {
        throw new IllegalArgumentException(
            "the executors of ranks 0 and "
                + rank
                + " differ in maxActiveRequests, enableBlockReuse or tokensPerBlock");
      }
    }
  }

  /**
   * Puts a request into the waiting queue. The next iteration sees it.
   *
   * @param request the request
   * @throws IllegalArgumentException if its id is in flight, its target rank does not exist, it has
   *     more children than the instance may hold requests, or its hashes are of another block size;
   *     nothing is changed
   */
  public void submit(HashedRequest request) {
    long id = request.request().id();
    if (inFlight(id)) {
      throw new IllegalArgumentException("request id " + id + " is in flight already");
    }
    int targetRank = request.request().targetRank();
    if (targetRank >= executors.length) {
      throw new IllegalArgumentException(
          "targetRank must be 0 to " + (executors.length - 1) + ", not " + targetRank);
    }
    long capacity = (long) executors.length * maxActiveRequests;
    if (request.request().children() >= capacity) {
      throw new IllegalArgumentException(
          "children must be less than "
              + capacity
              + ", the requests that the instance may hold, not "
              + request.request().children());
    }
    PoolFit.requireHashes(request, executors[0].tokensPerBlock());
    cancelled.remove(id);
    waitingIds.add(id);
    queue.enqueue(request);
  }

  /**
   * Asks for a request to be cancelled. The next iteration acts on it; until then the request may
   * still end by itself.
   *
   * @param requestId its id
   * @return false if no request of that id is in flight, or its cancellation was asked for before
   */
  public boolean cancel(long requestId) {
    return inFlight(requestId) && cancelled.add(requestId);
  }

  /**
   * Whether there is nothing to do.
   *
   * @return true if nothing waits and no rank holds a request
   */
  public boolean idle() {
    return queue.isEmpty() && totalActive() == 0;
  }

  /**
   * Runs one iteration.
   *
   * @param nowNs when it starts, in nanoseconds
   * @return how long it takes, in nanoseconds; 0 only if there was nothing to run
   * @throws IllegalStateException if the router places nothing although every rank is idle
   */
  public long iterate(long nowNs) {
    if (!cancelled.isEmpty()) {
      actOnCancellations(nowNs);
    }
    if (!queue.isEmpty()) {
      placement.place(waitingIds, nowNs);
    }
    boolean ran = false;
    long durationNs = 0;
    for (RankExecutor executor : executors) {
      if (executor.hasWork()) {
        ran = true;
        durationNs = Math.max(durationNs, executor.beginStep(nowNs));
      }
    }
    if (!ran) {
      return 0;
    }
    durationNs = Math.max(1, durationNs);
    for (RankExecutor executor : executors) {
      executor.endStep(nowNs + durationNs);
    }
    return durationNs;
  }

  private void actOnCancellations(long nowNs) {
    while (!cancelled.isEmpty()) {
      long id = cancelled.removeFirstLong();
      if (waitingIds.remove(id)) {
        listener.onCancelled(queue.remove(id).request(), nowNs);
        continue;
      }
      for (RankExecutor executor : executors) {
        if (executor.cancel(id, nowNs)) {
          break;
        }
      }
    }
  }

  private boolean inFlight(long requestId) {
    if (waitingIds.contains(requestId)) {
      return true;
    }
    for (RankExecutor executor : executors) {
      if (executor.holds(requestId)) {
        return true;
      }
    }
    return false;
  }

  private int totalActive() {
    return Placement.totalActive(executors);
  }
}
