package io.kvasir.engine.execute;

import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs the requests of one rank: schedules them, leases their blocks, runs the engine and commits
 * the computed blocks.
 *
 * <p>A step has two halves, so that the ranks of a worker end their steps together. {@link
 * #beginStep} schedules the step ({@link Growth} continues started requests, {@link Admission}
 * starts waiting ones) and computes it. {@link #endStep} makes the results visible ({@link
 * Completion}). Between the halves nothing may be submitted or cancelled.
 *
 * <p>A context rank ({@link ExecutorOptions#kvTransfer}) computes a request up to its first token.
 * The request's KV is then <i>sent</i>: the request keeps its blocks, needs no more steps, and
 * finishes when the loop ends its transfer. While blocks in transfer keep all other requests from
 * starting, steps are empty.
 *
 * <p>If the pool or the engine throws in the first half, the step has not begun: no result was
 * reported, leased blocks stay leased, and a later step computes the same tokens again. If anything
 * throws in the second half, results may have been reported that the pool does not have. The rank
 * must then be retired, and its requests continue on other ranks.
 *
 * <p><b>Cost.</b> A step costs a few nanoseconds per request, plus one pool call for each kind of
 * change: growth, leases, commits, releases. Most decode steps have none. A pool that defers its
 * operations executes all operations of a step together, between the end of one step and the
 * engine's part of the next, with one submission and one wait. Under GUARANTEED_NO_EVICT only a
 * second lease call adds another submission; it happens when the pool refused every starting
 * request on an otherwise idle rank. Under MAX_UTILIZATION starting requests add one submission,
 * and so does each attempt to find blocks in a pool that is too full. No memory is allocated per
 * token.
 *
 * <p>Confined to the rank's executor thread.
 */
public final class RankExecutor extends WorkerRank {

  private final int rank;
  private final BlockPool pool;
  private final BlockHasher hasher;
  private final ExecutorOptions options;
  private final RequestListener listener;
  private final int tokensPerBlock;
  private final RankLedger ledger;
  private final StartedRequests started = new StartedRequests();
  private final SendingRequests sending;
  private final HeldRequests requests;
  private final Admission admission;
  private final RankStep step;
  private boolean retired;
  private long nextArrival;

  /**
   * Creates an executor without requests.
   *
   * @param rank the rank's index in its worker
   * @param pool the rank's pool; all other users may only look up in it; the caller closes it
   * @param hasher hashes blocks; the same as for the requests' hashes
   * @param engine computes the steps
   * @param options how to schedule
   * @param listener receives the events of the requests
   * @throws IllegalArgumentException if pool and hasher differ in tokens per block, or the pool has
   *     fewer leases than the rank may have requests
   */
  public RankExecutor(
      int rank,
      BlockPool pool,
      BlockHasher hasher,
      StepEngine engine,
      ExecutorOptions options,
      RequestListener listener) {
    PoolFit.requireParts(pool.shape(), hasher.tokensPerBlock(), options.maxActiveRequests());
    this.rank = rank;
    this.pool = pool;
    this.hasher = hasher;
    this.options = options;
    this.listener = listener;
    this.tokensPerBlock = hasher.tokensPerBlock();
    this.ledger = new RankLedger(rank);
    this.sending = new SendingRequests(options.kvTransfer(), ledger);
    this.admission = new Admission(rank, pool, started, sending, ledger, listener, options);
    this.requests = new HeldRequests(started, admission, sending, ledger);
    Growth growth = new Growth(pool, started, admission, options.capacityPolicy());
    Completion completion =
        new Completion(
            rank,
            pool,
            hasher,
            options.enableBlockReuse(),
            started,
            admission,
            sending.sends(),
            listener);
    this.step = new RankStep(rank, pool, engine, started, growth, admission, completion);
  }

  /** {@return the rank's index in its worker, from 0} */
  @Override
  public int rank() {
    return rank;
  }

  /** {@return the scheduling options} */
  public ExecutorOptions options() {
    return options;
  }

  /** {@return the number of tokens in a block of the rank's pool, at least 1} */
  public int tokensPerBlock() {
    return tokensPerBlock;
  }

  /**
   * {@return the number of requests on the rank, waiting or started, with their children, without
   * those in transfer; at most {@link ExecutorOptions#maxActiveRequests()} and the children of one
   * request; 0 on a retired rank}
   */
  @Override
  public int activeRequests() {
    return ledger.activeRequests();
  }

  /**
   * Whether there are requests to compute. Costs two loads.
   *
   * @return false if the rank has no requests other than those in transfer
   */
  @Override
  public boolean hasWork() {
    return !requests.isEmpty();
  }

  /**
   * Whether a request is on this rank. O(1).
   *
   * @param requestId its id
   * @return true from its submission until it has finished, including its transfer, or is cancelled
   */
  @Override
  public boolean holds(long requestId) {
    return requests.contains(requestId);
  }

  /**
   * The rank's state for routers, with the pool's current occupancy; without occupancy if it is
   * retired.
   *
   * @param metric which tokens count as load
   * @return a snapshot
   */
  public RankState state(LoadMetric metric) {
    return ledger.state(metric, retired ? null : pool.occupancy());
  }

  /** The work left on the rank. */
  RankWork work() {
    return requests.work();
  }

  @Override
  int pendingTokens(PlacedRequest candidate) {
    return requests.pendingBlocks(candidate) * tokensPerBlock;
  }

  /** Submits the pool's deferred operations; {@link #settle} waits for them. */
  void submitPool() {
    if (!retired) {
      pool.submit();
    }
  }

  /**
   * Executes the pool's deferred operations, so that {@link #state} includes them. Waits for the
   * device. Free for pools that defer nothing, and on a retired rank.
   */
  public void settle() {
    if (!retired) {
      pool.settle();
    }
  }

  /**
   * Accepts a request. It starts in a later step, after earlier requests. A request that can never
   * fit into the pool is rejected: the listener receives the reason, and nothing is kept.
   *
   * @param hashed the request
   * @param nowNs the time for the listener
   * @return false if it was rejected
   * @throws IllegalArgumentException if its id is on this rank already, or its hashes have another
   *     block size
   * @throws IllegalStateException if the rank is full or retired, or between the halves of a step
   */
  public boolean submit(HashedRequest hashed, long nowNs) {
    PoolFit.requireHashes(hashed, tokensPerBlock);
    PoolFit.requireOutput(hashed, options);
    return submit(new PlacedRequest(hashed, tokensPerBlock, nextArrival++), nowNs);
  }

  private boolean submit(PlacedRequest placed, long nowNs) {
    requireRoomFor(placed.request.id());
    String reason = unservable(placed.request);
    if (reason != null) {
      listener.onRejected(placed.request, reason, nowNs);
      return false;
    }
    requests.add(placed);
    return true;
  }

  @Override
  @Nullable String unservable(Request request) {
    return PoolFit.unservable(request, rank, pool.shape());
  }

  @Override
  void accept(PlacedRequest placed) {
    requireRoomFor(placed.request.id());
    requests.add(placed);
  }

  private void requireRoomFor(long id) {
    step.requireEnded();
    if (retired) {
      throw new IllegalStateException("rank " + rank + " is retired");
    }
    if (requests.contains(id)) {
      throw new IllegalArgumentException("request " + id + " is on rank " + rank + " already");
    }
    if (ledger.activeRequests() >= options.maxActiveRequests()) {
      throw new IllegalStateException(
          "rank " + rank + " holds " + options.maxActiveRequests() + " requests already");
    }
  }

  /**
   * Cancels a request at any stage and releases its blocks. If the pool throws, nothing has
   * changed.
   *
   * @param requestId its id
   * @param nowNs the time for the listener
   * @return false if the request is not on this rank
   * @throws IllegalStateException between the halves of a step
   */
  public boolean cancel(long requestId, long nowNs) {
    PlacedRequest placed = take(requestId);
    if (placed == null) {
      return false;
    }
    listener.onCancelled(placed.request, nowNs);
    return true;
  }

  @Override
  @Nullable PlacedRequest take(long requestId) {
    step.requireEnded();
    PlacedRequest placed = requests.remove(requestId);
    if (placed != null) {
      step.forget();
    }
    return placed;
  }

  /**
   * The requests that a step would schedule now without a delay of prefill. A request that waits
   * for blocks counts, unless the pool has refused it and nothing has changed since. O(1).
   */
  AdpBalance.Scheduled scheduled() {
    if (requests.isEmpty()) {
      return AdpBalance.Scheduled.PADDING;
    }
    int decoding = Math.min(started.decoding(), options.tokenBudget());
    int prefilling = started.size() - started.decoding() + admission.readyToStart();
    return new AdpBalance.Scheduled(
        decoding < options.tokenBudget() ? prefilling : 0, decoding, decoding);
  }

  /**
   * Schedules a step and computes it. Starts and pauses are reported at once; results are reported
   * by {@link #endStep}, which must follow.
   *
   * @param nowNs the time for the listener
   * @return the duration of the step, in nanoseconds; 0 if the rank has no requests, or none can
   *     start before a transfer ends
   * @throws IllegalStateException if the previous step has not ended, or the pool refuses the only
   *     request although it would fit, because another user holds blocks of the pool
   */
  public long beginStep(long nowNs) {
    return beginStep(nowNs, false);
  }

  /**
   * Schedules a step and computes it. If prefill is delayed, no request starts or prefills, and the
   * duration is 0 if nothing else is left.
   */
  long beginStep(long nowNs, boolean withoutPrefill) {
    return step.begin(nowNs, options.tokenBudget(), withoutPrefill, hasWork(), !sending.isEmpty());
  }

  /**
   * Ends a step: appends tokens, commits full blocks, and removes finished requests or begins their
   * transfers. Does nothing if no step has begun.
   *
   * @param endNs the time for the listener
   */
  public void endStep(long endNs) {
    applyStep(endNs);
    startTransfers(endNs);
  }

  /**
   * Ends a step whose end time is not known yet. {@link #startTransfers} must follow when it is.
   */
  void applyStep(long endNs) {
    int done = step.apply(endNs);
    for (int i = 0; i < done; i++) {
      PlacedRequest request = step.takeDone(i);
      if (sending.sends()) {
        sending.add(request);
      } else {
        requests.forget(request);
        listener.onFinished(request.request, rank, request.outputTokens(), endNs);
      }
    }
  }

  /** The work of the step that has begun; none between steps. */
  RankWork stepWork() {
    return step.work();
  }

  /** Whether the last step was empty because blocks in transfer kept requests from starting. */
  boolean waitsForTransfer() {
    return step.waitsForTransfer();
  }

  /** {@return the peak number of requests in transfer at the same time, at least 0} */
  public int peakInTransferRequests() {
    return sending.peak();
  }

  /** Moves the end of a transfer; false if the rank has none of that request. */
  boolean endTransferAt(long requestId, long endNs) {
    return requests.endTransferAt(requestId, endNs);
  }

  @Override
  void startTransfers(long nowNs) {
    sending.start(nowNs);
  }

  @Override
  long nextTransferEndNs() {
    return sending.nextEndNs();
  }

  @Override
  PlacedRequest endTransfer() {
    return requests.endTransfer();
  }

  @Override
  void releaseSent() {
    int count = sending.sentCount();
    sending.clearSent();
    pool.release(sending.sentLeases(), count);
    admission.allowRetry();
  }

  /**
   * Removes all requests from the rank, at any stage. Neither pool nor engine is called, now or
   * later.
   *
   * @return the requests in arrival order, including finished ones that were not yet reported as
   *     finished
   */
  @Override
  List<PlacedRequest> retire() {
    retired = true;
    step.abandon();
    return requests.takeAll();
  }

  PoolShape shape() {
    return pool.shape();
  }

  BlockHasher hasher() {
    return hasher;
  }
}
