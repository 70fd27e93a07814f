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

/**
 * The loop of one worker: all ranks iterate in lock-step.
 *
 * <p>An iteration acts on cancellations, pops the waiting queue up to the room there is, matches
 * the popped prompts on every rank, asks the router, hands the requests over, and lets every rank
 * that holds requests step. It lasts as long as the slowest rank's step, and what the steps produce
 * is told at its end. Steps that nobody would notice are left out: states are gathered only when
 * somebody waits and there is room, matches and routes only for requests that were popped, and a
 * rank without requests costs two loads.
 *
 * <p><b>Lost ranks.</b> When a rank's pool or engine throws {@link FatalDeviceException}, that rank
 * is retired: neither is used again, and its requests go back to the front of the queue in the
 * order in which they once arrived, so that the next placement puts them on other ranks, where they
 * go on after the last token told. An answer that was complete is told as finished. Requests that
 * no rank left can ever take are rejected: those that insist on a lost rank, and those with more
 * children than the others hold. With no rank left everything waits; see {@link #liveRanks}.
 *
 * <p><b>Other exceptions</b> of a rank are thrown on by {@link #iterate}. While a step is scheduled
 * and computed nothing has been told yet, so the rank stays and tries again. When its results are
 * told and booked, blocks can neither be named nor returned twice: what the pool holds is not known
 * any more, and the rank is retired as if it were lost.
 *
 * <p>A listener may call {@link #submit}, {@link #cancel} and {@link #retire} from within an
 * iteration. Confined to the thread that drives the loop.
 */
public final class AdpLoop {

  /** Value of {@link #nextWakeNs()} while nothing ends by itself. */
  public static final long NEVER = SendingRequests.NEVER;

  private final Member self;
  private final LiveRanks ranks;
  private final WaitingRequests waiting;
  private final RequestListener listener;
  private final int maxActiveRequests;
  private final int tokensPerBlock;
  private final ExecutorOptions options;
  private final BatchPlacement placement;
  private final RankAccess views;

  private final LongLinkedOpenHashSet cancelled = new LongLinkedOpenHashSet();
  private long arrivals;

  /**
   * Makes the loop of a worker. It closes none of its parts.
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
    this(null, executors, router, matcher, queue, null, listener);
  }

  /**
   * Makes this process' part of the loop of a worker that is spread over several processes. All of
   * them must submit the same requests and ask for the same cancellations in the same iterations;
   * see {@link io.kvasir.engine.lockstep}.
   *
   * @param group this process' part; null if there are no other processes
   * @param executors one executor for each rank of this process, in rank order, all with the same
   *     request cap, block size and block reuse, each with the group's listener of its rank
   * @param router places requests; like that of the other processes
   * @param matcher looks prompts up in the executors' pools, in the same order
   * @param queue holds requests until a rank takes them; empty
   * @param balance decides in which iterations prefill is held back; null for none
   * @param listener hears what becomes of all requests of the worker
   * @throws IllegalArgumentException if the executors are not those of this process' ranks, or out
   *     of order or differ, or the queue is not empty
   */
  public AdpLoop(
      RankGroup group,
      List<RankExecutor> executors,
      AdpRouter router,
      PrefixMatcher matcher,
      WaitingQueue queue,
      AdpBalance balance,
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
    this.views =
        group == null
            ? new LocalRanks(executors, ranks, router, matcher, balance)
            : new GatheredRanks(group, executors, ranks, router, matcher, balance, listener);
    this.placement =
        new BatchPlacement(ranks, router, views, options, tokensPerBlock, waiting, listener);
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
            "executor " + i + " must be of rank " + rank + ", not " + executor.rank());
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
      RankGroup group, List<RankExecutor> executors) {
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
   *     more children than the worker may hold requests, its hashes are of another block size, or
   *     it asks context ranks for more than one token; nothing is changed
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
   * Whether there is nothing to compute. Requests may still be in transfer; see {@link
   * #nextWakeNs}.
   *
   * @return true if nothing waits and no rank holds a request that is not being sent
   */
  public boolean idle() {
    return waiting.isEmpty() && ranks.activeRequests() == 0;
  }

  /**
   * Ranks that are not retired. With none left requests are accepted and wait for ever, so whoever
   * drives the loop asks this when {@link #iterate} returns 0.
   *
   * @return at least 0
   */
  public int liveRanks() {
    return ranks.live().length;
  }

  /**
   * Whether a rank is not retired.
   *
   * @param rank its index
   * @return false once it is lost; its pool must not be used any more
   * @throws IndexOutOfBoundsException if there is no such rank
   */
  public boolean isLive(int rank) {
    return ranks.isLive(rank);
  }

  /**
   * Asks for a rank to be retired as if it were lost, for example because its device is not
   * healthy. The next iteration acts on it before anything else.
   *
   * @param rank its index
   * @param reason why, for listener and log
   * @return false if it is retired, or was asked for before
   * @throws IndexOutOfBoundsException if there is no such rank
   * @throws IllegalArgumentException if the rank lives in another process, which must ask
   */
  public boolean retire(int rank, String reason) {
    if (ranks.isLive(rank) && !self.has(rank)) {
      throw new IllegalArgumentException("rank " + rank + " does not live in " + self);
    }
    return ranks.ask(rank, reason);
  }

  /**
   * Runs one iteration.
   *
   * <p>What a rank throws stops no other rank: it is thrown on, the first one of several, when all
   * have ended their steps, and the loop can go on. See the class comment for what becomes of the
   * rank.
   *
   * @param nowNs when it starts, in nanoseconds
   * @return how long it takes, in nanoseconds; 0 only if there was nothing to run before a transfer
   *     ends, or no rank is live
   * @throws IllegalStateException if the router places nothing although every rank is idle
   */
  public long iterate(long nowNs) {
    try {
      ranks.endTransfers(nowNs);
      views.retireAsked(nowNs);
      actOnCancellations(nowNs);
      placement.place(nowNs);
      return views.step(nowNs);
    } finally {
      waiting.lineUpReturned();
    }
  }

  /**
   * When the next request's KV will have been sent: the earliest moment at which something ends
   * without an iteration. Whoever drives the loop must not let time go past it while {@link
   * #iterate} has nothing to run. O(ranks).
   *
   * @return the time, or {@link #NEVER}
   */
  public long nextWakeNs() {
    return ranks.nextTransferEndNs();
  }

  /**
   * Finishes the requests whose KV has been sent by now; their blocks go back to the pool. An
   * iteration does the same first.
   *
   * @param nowNs now, in nanoseconds
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
          cancelled.addAndMoveToFirst(id); // it waits now
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
