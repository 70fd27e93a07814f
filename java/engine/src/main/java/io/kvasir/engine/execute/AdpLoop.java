package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.pool.PrefixMatcher;
import io.kvasir.hash.HashedRequest;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The loop of one worker: all ranks step together. {@link AdpWorker} makes it with its parts.
 *
 * <p>An iteration applies cancellations, pops the waiting queue up to the available room, matches
 * the popped prompts on every rank, routes the requests, passes them to their ranks, and steps
 * every rank that has requests. It lasts as long as the slowest rank's step, and the listener
 * receives the results at its end. An iteration skips work that has no effect. States are gathered
 * only if requests wait and there is room. Only popped requests are matched and routed. A rank
 * without requests costs two loads.
 *
 * <p><b>Retired ranks.</b> When a rank's pool or engine throws {@link FatalDeviceException}, the
 * rank is retired. Its pool and engine are not used again. Its requests return to the front of the
 * queue in arrival order. The next placement moves them to other ranks, where they continue after
 * the last token that the listener received. A request whose answer was complete is reported as
 * finished. Requests that no live rank can ever take are rejected: those that strictly target a
 * retired rank, and those with more children than the live ranks can hold. With no live rank, all
 * requests wait; see {@link #liveRanks}.
 *
 * <p><b>Other exceptions</b> of a rank propagate from {@link #iterate}. An exception while a step
 * is scheduled or computed precedes all results, so the rank stays live and retries the step. An
 * exception while results are applied leaves the pool in an unknown state, because commits and
 * releases cannot be repeated; the rank is retired.
 *
 * <p>A listener may call {@link #submit}, {@link #cancel} and {@link #retire} from within an
 * iteration. Confined to the thread that drives the loop.
 */
public final class AdpLoop {

  /** Value of {@link #nextWakeNs()} while no transfer is in progress. */
  public static final long NEVER = SendingRequests.NEVER;

  private final Member self;
  private final LiveRanks ranks;
  private final WaitingRequests waiting;
  private final RequestListener listener;
  private final int maxActiveRequests;
  private final int tokensPerBlock;
  private final ExecutorOptions options;
  private final BatchPlacement placement;
  private final RankAccess rankAccess;

  private final LongLinkedOpenHashSet cancelled = new LongLinkedOpenHashSet();
  private long arrivals;

  /**
   * Creates the loop of a worker. The loop does not close its parts.
   *
   * @param executors one executor for each rank, in rank order, all with the same request cap,
   *     block size and block reuse
   * @param router places requests
   * @param matcher looks prompts up in the executors' pools, in the same order
   * @param queue holds requests until a rank takes them; empty
   * @param listener receives the events of requests; the same one as the executors'
   * @throws IllegalArgumentException if there is no executor, or they are out of order or differ,
   *     or the queue is not empty
   */
  public AdpLoop(
      List<RankExecutor> executors,
      AdpRouter router,
      PrefixMatcher matcher,
      WaitingQueue queue,
      RequestListener listener) {
    this(null, executors, router, matcher, queue, null, listener);
  }

  /**
   * Creates this process's part of the loop of a worker that spans several processes. All processes
   * must submit the same requests and cancellations in the same iterations; see {@link
   * io.kvasir.engine.lockstep}.
   *
   * @param group this process's membership; null if there are no other processes
   * @param executors one executor for each rank of this process, in rank order, all with the same
   *     request cap, block size and block reuse, each with the group's listener of its rank
   * @param router places requests; configured as in the other processes
   * @param matcher looks prompts up in the executors' pools, in the same order
   * @param queue holds requests until a rank takes them; empty
   * @param balance decides in which iterations prefill is delayed; null for none
   * @param listener receives the events of all requests of the worker
   * @throws IllegalArgumentException if the executors are not those of this process's ranks, or are
   *     out of order or differ, or the queue is not empty
   */
  public AdpLoop(
      @Nullable RankGroup group,
      List<RankExecutor> executors,
      AdpRouter router,
      PrefixMatcher matcher,
      WaitingQueue queue,
      @Nullable AdpBalance balance,
      RequestListener listener) {
    if (executors.isEmpty() || !queue.isEmpty()) {
      throw new IllegalArgumentException("a worker needs executors and an empty queue");
    }
    RankExecutor sample = executors.get(0);
    this.self = group == null ? new Member(0, 0, executors.size()) : group.self();
    this.waiting = new WaitingRequests(queue);
    this.options = sample.options();
    this.maxActiveRequests = options.maxActiveRequests();
    this.tokensPerBlock = sample.tokensPerBlock();
    this.listener = listener;
    requireAlike(executors);
    this.ranks =
        new LiveRanks(
            allRanks(group, executors),
            maxActiveRequests,
            rank -> {
              if (self.has(rank)) {
                matcher.retire(rank - self.firstRank());
              }
            },
            waiting,
            listener);
    this.rankAccess =
        group == null
            ? new LocalRanks(executors, ranks, router, matcher, balance)
            : new GatheredRanks(group, executors, ranks, router, matcher, balance, listener);
    this.placement =
        new BatchPlacement(ranks, router, rankAccess, options, tokensPerBlock, waiting, listener);
  }

  private void requireAlike(List<RankExecutor> executors) {
    RankExecutor first = executors.get(0);
    if (executors.size() != self.ranks()) {
      throw new IllegalArgumentException(
          self + " must have one executor for each rank, not " + executors.size());
    }
    for (int i = 0; i < executors.size(); i++) {
      RankExecutor executor = executors.get(i);
      int rank = self.firstRank() + i;
      if (executor.rank() != rank) {
        throw new IllegalArgumentException(
            "executor " + i + " must have rank " + rank + ", not " + executor.rank());
      }
      if (executor.options().maxActiveRequests() != first.options().maxActiveRequests()
          || executor.options().enableBlockReuse() != first.options().enableBlockReuse()
          || !Objects.equals(executor.options().kvTransfer(), first.options().kvTransfer())
          || executor.tokensPerBlock() != first.tokensPerBlock()) {
        throw new IllegalArgumentException(
            "the executors of ranks "
                + first.rank()
                + " and "
                + rank
                + " differ in maxActiveRequests, enableBlockReuse, kvTransfer or tokensPerBlock");
      }
    }
  }

  private static List<? extends WorkerRank> allRanks(
      @Nullable RankGroup group, List<RankExecutor> executors) {
    if (group == null) {
      return executors;
    }
    List<WorkerRank> all = new ArrayList<>();
    for (Member member : group.collective().members()) {
      for (int i = 0; i < member.ranks(); i++) {
        all.add(
            member.equals(group.self())
                ? executors.get(i)
                : new RemoteRank(member.firstRank() + i, executors.get(0)));
      }
    }
    return all;
  }

  /**
   * Puts a request into the waiting queue. The next iteration sees it.
   *
   * @param request the request
   * @throws IllegalArgumentException if its id is in flight, its target rank does not exist, it has
   *     more children than the worker may hold requests, its hashes have another block size, or it
   *     asks context ranks for more than one token; nothing is changed
   */
  public void submit(HashedRequest request) {
    long id = request.request().id();
    if (inFlight(id)) {
      throw new IllegalArgumentException("request id " + id + " is in flight already");
    }
    int targetRank = request.request().targetRank();
    if (targetRank >= ranks.count()) {
      throw new IllegalArgumentException(
          "targetRank must be 0 to " + (ranks.count() - 1) + ", not " + targetRank);
    }
    long capacity = (long) ranks.count() * maxActiveRequests;
    if (request.request().children() >= capacity) {
      throw new IllegalArgumentException(
          "children must be less than "
              + capacity
              + ", the requests that the worker may hold, not "
              + request.request().children());
    }
    PoolFit.requireHashes(request, tokensPerBlock);
    PoolFit.requireOutput(request, options);
    cancelled.remove(id);
    waiting.arrive(new PlacedRequest(request, tokensPerBlock, arrivals++));
    ranks.checkArrival(request.request());
  }

  /**
   * Requests the cancellation of a request. The next iteration applies it; until then the request
   * may still finish.
   *
   * @param requestId its id
   * @return false if no request with that id is in flight, or its cancellation is already pending
   */
  public boolean cancel(long requestId) {
    return inFlight(requestId) && cancelled.add(requestId);
  }

  /**
   * Whether there is nothing to compute. Requests may still be in transfer; see {@link
   * #nextWakeNs}.
   *
   * @return true if no request waits, and all requests on the ranks are in transfer
   */
  public boolean idle() {
    return waiting.isEmpty() && ranks.activeRequests() == 0;
  }

  /**
   * The number of live ranks. With no live rank, requests are still accepted but wait for ever, so
   * the caller should check this when {@link #iterate} returns 0.
   *
   * @return at least 0
   */
  public int liveRanks() {
    return ranks.live().length;
  }

  /**
   * Whether a rank is live.
   *
   * @param rank its index
   * @return false once it is retired; its pool must not be used any more
   * @throws IndexOutOfBoundsException if there is no such rank
   */
  public boolean isLive(int rank) {
    return ranks.isLive(rank);
  }

  /**
   * Requests the retirement of a rank, for example because its device is unhealthy. The next
   * iteration retires it before anything else.
   *
   * @param rank its index
   * @param reason the reason, for listener and log
   * @return false if the rank is retired, or its retirement is already pending
   * @throws IndexOutOfBoundsException if there is no such rank
   * @throws IllegalArgumentException if the rank belongs to another process, which must make the
   *     request
   */
  public boolean retire(int rank, String reason) {
    if (ranks.isLive(rank) && !self.has(rank)) {
      throw new IllegalArgumentException("rank " + rank + " does not belong to " + self);
    }
    return ranks.requestRetirement(rank, reason);
  }

  /**
   * Runs one iteration.
   *
   * <p>An exception of one rank does not stop the others. When all have ended their steps, the
   * first exception is rethrown, with the others suppressed. The loop can continue. The class
   * comment says what happens to the rank.
   *
   * @param nowNs the start time, in nanoseconds
   * @return its duration, in nanoseconds; 0 only if nothing can run before a transfer ends, or no
   *     rank is live
   * @throws IllegalStateException if the router places nothing although every rank is idle
   */
  public long iterate(long nowNs) {
    try {
      ranks.endTransfers(nowNs);
      rankAccess.retireRequested(nowNs);
      actOnCancellations(nowNs);
      placement.place(nowNs);
      return rankAccess.step(nowNs);
    } finally {
      waiting.queueReturned();
    }
  }

  /**
   * The end of the next KV transfer. While {@link #iterate} has nothing to run, the caller must run
   * the loop again at that time. O(ranks).
   *
   * @return the time, or {@link #NEVER}
   */
  public long nextWakeNs() {
    return ranks.nextTransferEndNs();
  }

  /**
   * Finishes the requests whose KV has been sent by now and releases their blocks. Every iteration
   * starts with the same work.
   *
   * @param nowNs the current time, in nanoseconds
   */
  public void endTransfers(long nowNs) {
    ranks.endTransfers(nowNs);
  }

  private void actOnCancellations(long nowNs) {
    while (!cancelled.isEmpty()) {
      long id = cancelled.removeFirstLong();
      PlacedRequest request = waiting.remove(id);
      if (request != null) {
        listener.onCancelled(request.request, nowNs);
        continue;
      }
      for (WorkerRank executor : ranks.live()) {
        try {
          PlacedRequest taken = executor.take(id);
          if (taken != null) {
            listener.onCancelled(taken.request, nowNs);
            break;
          }
        } catch (FatalDeviceException lost) {
          cancelled.addAndMoveToFirst(id); // the retirement moves the request to the queue
          ranks.retire(executor, lost, nowNs);
          break;
        }
      }
    }
  }

  private boolean inFlight(long requestId) {
    return waiting.contains(requestId) || ranks.holds(requestId);
  }
}
