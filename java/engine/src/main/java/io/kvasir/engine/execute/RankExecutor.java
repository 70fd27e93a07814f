package io.kvasir.engine.execute;

import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.List;
import java.util.function.Consumer;

/**
 * Runs the requests of one rank: schedules them, leases their blocks, lets the engine compute and
 * names what was computed.
 *
 * <p>A step has two halves, so that the ranks of a worker end their steps together. {@link
 * #beginStep} schedules ({@link Growth}: the started requests go on; {@link Admission}: waiting
 * ones start) and computes. {@link #endStep} makes the results visible ({@link Completion}).
 * Between the halves nothing may be submitted or cancelled.
 *
 * <p>A context rank ({@link ExecutorOptions#kvTransfer}) is through with a request when it has its
 * first token; the request is then <i>sent</i>: it keeps its blocks, is no work any more, and is
 * finished when the loop ends its transfer. If nothing can start because of the blocks that are
 * being sent, a step has nothing to do.
 *
 * <p>If pool or engine throw in the first half, the step has not begun: no result was told, blocks
 * that were leased stay leased, and a later step computes the same again. If anything throws in the
 * second half, results were told that the pool does not know of; the rank can only be retired, and
 * its requests go on elsewhere.
 *
 * <p>What a step costs: a few nanoseconds for each request in it, and one call of the pool for each
 * kind of change there is: growth, new leases, names, releases. Most decode steps have none. A pool
 * that puts calls off carries all of a step's out at once, between the end of one step and the
 * engine's part of the next: one submission, one wait. Under GUARANTEED_NO_EVICT only a second
 * lease takes one more, which there is where the pool refused all who would have started on a rank
 * where nothing else runs. Under MAX_UTILIZATION requests that start take one more, and so does
 * every attempt at finding blocks in a pool that is too full. Nothing is allocated for a token.
 *
 * <p>Confined to the rank's executor thread.
 */
public final class RankExecutor extends WorkerRank {

  private final int rank;
  private final BlockPool pool;
  private final BlockHasher hasher;
  private final StepEngine engine;
  private final ExecutorOptions options;
  private final RequestListener listener;
  private final int tokensPerBlock;
  private final RankLedger ledger;
  private final StartedRequests started = new StartedRequests();
  private final StepPlan plan = new StepPlan();
  private final SendingRequests sending;
  private final HeldRequests requests;
  private final Growth growth;
  private final Admission admission;
  private final Completion completion;
  private final Consumer<LeaseBatch> leasing;
  private boolean inStep;
  private boolean waitsForTransfer;
  private boolean retired;
  private long nextArrival;

  /**
   * Makes an executor without requests.
   *
   * @param rank the rank's index in its worker
   * @param pool the rank's pool, used by nobody else except to look up; the caller closes it
   * @param hasher names blocks; the same as for the requests' hashes
   * @param engine computes the steps
   * @param options how to schedule
   * @param listener hears what becomes of the requests
   * @throws IllegalArgumentException if pool and hasher differ in their tokens per block, or the
   *     pool has fewer leases than the rank may have requests
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
    this.engine = engine;
    this.options = options;
    this.listener = listener;
    this.tokensPerBlock = hasher.tokensPerBlock();
    this.ledger = new RankLedger(rank);
    this.sending = new SendingRequests(options.kvTransfer(), ledger);
    this.admission = new Admission(rank, pool, started, sending, ledger, listener, options);
    this.requests = new HeldRequests(started, admission, sending, ledger);
    this.growth = new Growth(pool, started, admission, options.capacityPolicy());
    this.leasing = growth::lease;
    this.completion =
        new Completion(
            rank,
            pool,
            hasher,
            options.enableBlockReuse(),
            started,
            admission,
            sending.sends(),
            listener);
  }

  /**
   * The rank's index in its worker.
   *
   * @return from 0
   */
  @Override
  public int rank() {
    return rank;
  }

  /**
   * How this executor schedules.
   *
   * @return the options given at construction
   */
  public ExecutorOptions options() {
    return options;
  }

  /**
   * Tokens in a block of the rank's pool.
   *
   * @return at least 1
   */
  public int tokensPerBlock() {
    return tokensPerBlock;
  }

  /**
   * Requests that the rank holds, waiting for their first blocks or started, with their children;
   * without those that are being sent.
   *
   * @return at most {@link ExecutorOptions#maxActiveRequests()} and the children of one request; 0
   *     on a retired rank
   */
  @Override
  public int activeRequests() {
    return ledger.activeRequests();
  }

  /**
   * Whether there are requests to compute. Costs two loads.
   *
   * @return false if the rank holds no request, or only such as are being sent
   */
  @Override
  public boolean hasWork() {
    return !requests.isEmpty();
  }

  /**
   * Whether the rank holds a request. O(1).
   *
   * @param requestId its id
   * @return true from its submission until it is done, and sent if it must be, or cancelled
   */
  @Override
  public boolean holds(long requestId) {
    return requests.contains(requestId);
  }

  /**
   * The rank's state for routers, with the pool's occupancy now; without one if it is retired.
   *
   * @param metric which tokens count as load
   * @return a snapshot
   */
  public RankState state(LoadMetric metric) {
    return ledger.state(metric, retired ? null : pool.occupancy());
  }

  /** What the rank has yet to compute. */
  RankWork work() {
    return requests.work();
  }

  @Override
  int pendingTokens(PlacedRequest candidate) {
    return requests.pendingBlocks(candidate) * tokensPerBlock;
  }

  /** Begins to carry out what the pool put off; {@link #settle} waits for it. */
  void submitPool() {
    if (!retired) {
      pool.submit();
    }
  }

  /**
   * Carries out what the pool put off, so that {@link #state} shows it. Waits for a device; costs
   * nothing where the pool puts nothing off, and on a retired rank.
   */
  public void settle() {
    if (!retired) {
      pool.settle();
    }
  }

  /**
   * Takes a request over. It starts in a later step, after those that came before it. A request
   * that can never fit into the pool is rejected: the listener hears why, and nothing is kept.
   *
   * @param hashed the request
   * @param nowNs the time for the listener
   * @return false if it was rejected
   * @throws IllegalArgumentException if its id is here already or its hashes are of another block
   *     size
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
  String unservable(Request request) {
    return PoolFit.unservable(request, rank, pool.shape());
  }

  @Override
  void accept(PlacedRequest placed) {
    requireRoomFor(placed.request.id());
    requests.add(placed);
  }

  private void requireRoomFor(long id) {
    requireBetweenSteps();
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
   * Cancels a request at whatever stage it is; its blocks go back to the pool. If the pool throws,
   * nothing has changed.
   *
   * @param requestId its id
   * @param nowNs the time for the listener
   * @return false if the rank does not hold it
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
  PlacedRequest take(long requestId) {
    requireBetweenSteps();
    PlacedRequest placed = requests.remove(requestId);
    if (placed != null) {
      plan.forget();
    }
    return placed;
  }

  /**
   * What a step would schedule now if nothing is held back. A request that waits for blocks counts
   * unless the pool has refused it and nothing has changed since. O(1).
   */
  AdpBalance.Scheduled scheduled() {
    if (requests.isEmpty()) {
      return AdpBalance.Scheduled.PADDING;
    }
    int decoding = Math.min(started.decoding(), options.tokenBudget());
    int prefilling = started.size() - started.decoding() + admission.willing();
    return new AdpBalance.Scheduled(
        decoding < options.tokenBudget() ? prefilling : 0, decoding, decoding);
  }

  /**
   * Schedules a step and computes it. Starts and pauses are told at once, results by {@link
   * #endStep}, which must follow.
   *
   * @param nowNs the time for the listener
   * @return how long the step takes, in nanoseconds; 0 if the rank holds no request, or none can
   *     start before a transfer ends
   * @throws IllegalStateException if the previous step has not ended, or the pool refuses the only
   *     request although it would fit, because somebody else holds blocks of it
   */
  public long beginStep(long nowNs) {
    return beginStep(nowNs, false);
  }

  /**
   * Schedules a step and computes it; nobody starts or prefills in it if prefill is held back.
   * Takes 0 if nothing is left then.
   */
  long beginStep(long nowNs, boolean withoutPrefill) {
    requireBetweenSteps();
    waitsForTransfer = false;
    if (!hasWork()) {
      return 0;
    }
    plan.clear();
    boolean paused = growth.plan(plan, options.tokenBudget(), withoutPrefill, nowNs);
    while (plan.size() == 0
        && paused
        && (withoutPrefill ? started.decoding() > 0 : !started.isEmpty())) {
      // All that had tokens were paused.
      growth.plan(plan, options.tokenBudget(), withoutPrefill, nowNs);
    }
    if (!paused && !withoutPrefill) {
      admission.plan(plan, growth.budgetLeft(), growth.anyPrefill(), leasing, nowNs);
    }
    growth.takePromised();
    if (plan.size() == 0 && withoutPrefill) {
      return 0;
    }
    waitsForTransfer = plan.size() == 0 && !sending.isEmpty();
    if (waitsForTransfer) {
      return 0;
    }
    if (plan.size() == 0) {
      throw new IllegalStateException(
          "rank " + rank + " can start nothing: its pool is used by others, " + pool.occupancy());
    }
    pool.submit();
    long durationNs = engine.step(plan);
    inStep = true;
    return durationNs;
  }

  /**
   * Ends a step: tokens are appended, full blocks named, requests that are done leave, or begin to
   * be sent. Does nothing if no step has begun.
   *
   * @param endNs the time for the listener
   */
  public void endStep(long endNs) {
    applyStep(endNs);
    startTransfers(endNs);
  }

  /** Ends a step whose end is not known yet: {@link #startTransfers} must follow when it is. */
  void applyStep(long endNs) {
    if (!inStep) {
      return;
    }
    pool.complete();
    completion.apply(plan, endNs);
    inStep = false;
    if (completion.doneCount() > 0) {
      plan.forget();
    }
    for (int i = 0; i < completion.doneCount(); i++) {
      PlacedRequest done = completion.takeDone(i);
      if (sending.sends()) {
        sending.add(done);
      } else {
        requests.forget(done);
        listener.onFinished(done.request, rank, done.outputTokens(), endNs);
      }
    }
  }

  /** Whether a step was asked for, but had to wait for blocks that are being sent. */
  boolean waitsForTransfer() {
    return waitsForTransfer;
  }

  /**
   * Most requests that were being sent at the same time.
   *
   * @return at least 0
   */
  public int peakInTransferRequests() {
    return sending.peak();
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
    sending.forgetSent();
    pool.release(sending.sentLeases(), count);
    admission.allowRetry();
  }

  /**
   * Takes everything out of the rank, at whatever stage it is, without a call of pool or engine;
   * there will be none later either.
   *
   * @return the requests in order of arrival; those that are done could only not be told so
   */
  @Override
  List<PlacedRequest> retire() {
    retired = true;
    inStep = false;
    plan.forget();
    return requests.takeAll();
  }

  PoolShape shape() {
    return pool.shape();
  }

  BlockHasher hasher() {
    return hasher;
  }

  private void requireBetweenSteps() {
    if (inStep) {
      throw new IllegalStateException("the step of rank " + rank + " has not ended");
    }
  }
}
