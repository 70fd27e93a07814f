package io.kvasir.execute;

import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.RankState;
import io.kvasir.pool.BlockPool;
import io.kvasir.rank.LoadMetric;
import io.kvasir.rank.RankLedger;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;

/**
 * Runs the requests of one rank: schedules them, leases their blocks, lets the engine compute and
 * names what was computed.
 *
 * <p>A step has two halves, so that the ranks of an instance end their steps together. {@link
 * #beginStep} schedules ({@link Growth}: the started requests go on; {@link Admission}: waiting
 * ones start) and computes. {@link #endStep} makes the results visible ({@link Completion}).
 * Between the halves nothing may be submitted or cancelled.
 *
 * <p>What a step costs: a few nanoseconds for each request in it, and one call of the pool for each
 * kind of change there is: growth, new leases, names, releases. Most decode steps have none.
 * Nothing is allocated for a token.
 *
 * <p>Confined to the rank's executor thread.
 */
public final class RankExecutor {

  private final int rank;
  private final BlockPool pool;
  private final StepEngine engine;
  private final ExecutorOptions options;
  private final RequestListener listener;
  private final int tokensPerBlock;
  private final RankLedger ledger;
  private final Long2ObjectOpenHashMap<PlacedRequest> requests = new Long2ObjectOpenHashMap<>();
  private final StartedRequests started = new StartedRequests();
  private final StepPlan plan = new StepPlan();
  private final Growth growth;
  private final Admission admission;
  private final Completion completion;
  private boolean inStep;

  /**
   * Makes an executor without requests.
   *
   * @param rank the rank's index in its instance
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
    this.engine = engine;
    this.options = options;
    this.listener = listener;
    this.tokensPerBlock = hasher.tokensPerBlock();
    this.ledger = new RankLedger(rank);
    this.admission = new Admission(rank, pool, started, ledger, listener, options);
    this.growth = new Growth(pool, started, admission, options.capacityPolicy());
    this.completion =
        new Completion(
            rank, pool, hasher, options.enableBlockReuse(), started, admission, listener);
  }

  /**
   * The rank's index in its instance.
   *
   * @return from 0
   */
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
   * Requests that the rank holds, waiting for their first blocks or started.
   *
   * @return at most {@link ExecutorOptions#maxActiveRequests()}
   */
  public int activeRequests() {
    return ledger.activeRequests();
  }

  /**
   * Whether a step would have anything to do. Costs two loads.
   *
   * @return false if the rank holds no request
   */
  public boolean hasWork() {
    return !started.isEmpty() || !admission.isEmpty();
  }

  /**
   * Whether the rank holds a request. O(1).
   *
   * @param requestId its id
   * @return true from its submission until it is done or cancelled
   */
  public boolean holds(long requestId) {
    return requests.containsKey(requestId);
  }

  /**
   * The rank's state for routers, with the pool's occupancy now.
   *
   * @param metric which tokens count as load
   * @return a snapshot
   */
  public RankState state(LoadMetric metric) {
    return ledger.state(metric, pool.occupancy());
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
   * @throws IllegalStateException if the rank is full, or between the halves of a step
   */
  public boolean submit(HashedRequest hashed, long nowNs) {
    requireBetweenSteps();
    long id = hashed.request().id();
    if (requests.containsKey(id)) {
      throw new IllegalArgumentException("request " + id + " is on rank " + rank + " already");
    }
    PoolFit.requireHashes(hashed, tokensPerBlock);
    if (ledger.activeRequests() >= options.maxActiveRequests()) {
      throw new IllegalStateException(
          "rank " + rank + " holds " + options.maxActiveRequests() + " requests already");
    }
    String reason = PoolFit.unservable(hashed.request(), rank, pool.shape());
    if (reason != null) {
      listener.onRejected(hashed.request(), reason, nowNs);
      return false;
    }
    PlacedRequest placed = new PlacedRequest(hashed, tokensPerBlock);
    requests.put(id, placed);
    ledger.add(placed.promptTokens);
    admission.add(placed);
    return true;
  }

  /**
   * Cancels a request at whatever stage it is; its blocks go back to the pool.
   *
   * @param requestId its id
   * @param nowNs the time for the listener
   * @return false if the rank does not hold it
   * @throws IllegalStateException between the halves of a step
   */
  public boolean cancel(long requestId, long nowNs) {
    requireBetweenSteps();
    PlacedRequest placed = requests.remove(requestId);
    if (placed == null) {
      return false;
    }
    if (placed.started()) {
      started.remove(placed);
      admission.release(placed);
    } else {
      admission.remove(placed);
    }
    ledger.remove(placed.promptTokens, placed.cachedTokens);
    plan.forget();
    listener.onCancelled(placed.request, nowNs);
    return true;
  }

  /**
   * Schedules a step and computes it. Starts and pauses are told at once, results by {@link
   * #endStep}, which must follow.
   *
   * @param nowNs the time for the listener
   * @return how long the step takes, in nanoseconds; 0 if the rank holds no request
   * @throws IllegalStateException if the previous step has not ended, or the pool refuses the only
   *     request although it would fit, because somebody else holds blocks of it
   */
  public long beginStep(long nowNs) {
    requireBetweenSteps();
    if (!hasWork()) {
      return 0;
    }
    plan.clear();
    boolean paused = growth.plan(plan, options.tokenBudget(), nowNs);
    while (plan.size() == 0 && paused && !started.isEmpty()) {
      growth.plan(plan, options.tokenBudget(), nowNs); // all that had tokens were paused
    }
    if (!paused) {
      admission.plan(plan, growth.budgetLeft(), growth.anyPrefill(), nowNs);
    }
    if (plan.size() == 0) {
      throw new IllegalStateException(
          "rank " + rank + " can start nothing: its pool is used by others, " + pool.occupancy());
    }
    inStep = true;
    return engine.step(plan);
  }

  /**
   * Ends a step: tokens are appended, full blocks named, requests that are done leave. Does nothing
   * if no step has begun.
   *
   * @param endNs the time for the listener
   */
  public void endStep(long endNs) {
    if (!inStep) {
      return;
    }
    completion.apply(plan, endNs);
    inStep = false;
    if (completion.doneCount() > 0) {
      plan.forget();
    }
    for (int i = 0; i < completion.doneCount(); i++) {
      PlacedRequest done = completion.takeDone(i);
      requests.remove(done.request.id());
      ledger.remove(done.promptTokens, done.cachedTokens);
      listener.onFinished(done.request, rank, done.outputTokens(), endNs);
    }
  }

  private void requireBetweenSteps() {
    if (inStep) {
      throw new IllegalStateException("the step of rank " + rank + " has not ended");
    }
  }
}
