package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.BlockDemand;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker, put together: the pools of its ranks, an executor for each rank, the {@link AdpLoop}
 * over them, and the watch over their devices. A worker that spans several processes has one of
 * these in each process.
 *
 * <p>The caller submits requests and runs iterations, and passes in the time:
 *
 * <pre>{@code
 * try (AdpWorker worker = AdpWorker.builder(2, shape, hasher).open(engines, listener)) {
 *   worker.submit(request);
 *   while (!worker.idle()) {
 *     nowNs += worker.iterate(nowNs);
 *   }
 * }
 * }</pre>
 *
 * <p>Owns its pools. Confined to the thread that drives it; any thread may read the occupancy of a
 * pool.
 */
public final class AdpWorker implements AutoCloseable {

  /** Makes the engine of each rank. */
  @FunctionalInterface
  public interface Engines {

    /**
     * Makes an engine.
     *
     * @param rank index of the rank in the worker
     * @param pool the rank's pool
     * @return computes the rank's steps; ranks may share it if it permits that
     */
    StepEngine of(int rank, BlockPool pool);
  }

  private final RankPools pools;
  private final List<RankExecutor> executors;
  private final AdpLoop loop;
  private final RankHealth health;

  private AdpWorker(
      RankPools pools, List<RankExecutor> executors, AdpLoop loop, RankHealth health) {
    this.pools = pools;
    this.executors = executors;
    this.loop = loop;
    this.health = health;
  }

  /**
   * Begins a worker with pools in host memory, router {@code default} and a FCFS queue.
   *
   * @param ranks number of ranks of this process, at least 1
   * @param shape the shape of each pool
   * @param hasher hashes the blocks of answers; with the block size of the pools
   * @return the builder
   */
  public static Builder builder(int ranks, PoolShape shape, BlockHasher hasher) {
    return new Builder(ranks, shape, hasher);
  }

  /** Settings of a worker. Not thread-safe. */
  public static final class Builder {

    private final int ranks;
    private final PoolShape shape;
    private final BlockHasher hasher;
    private RankPools.Place place = RankPools.Place.HOST;
    private List<PoolGroup> groups = List.of();
    private boolean events;
    private ExecutorOptions executor = ExecutorOptions.DEFAULT;
    private AdpRouterKind router = AdpRouterKind.DEFAULT;
    private AttentionDpConfig config = AttentionDpConfig.DEFAULT;
    private StepTiming timing = StepTiming.DEFAULT;
    private WaitingQueuePolicy queue = WaitingQueuePolicy.FCFS;
    private @Nullable RankGroup group;

    private Builder(int ranks, PoolShape shape, BlockHasher hasher) {
      this.ranks = ranks;
      this.shape = shape;
      this.hasher = hasher;
    }

    /**
     * Sets where the pools live.
     *
     * @param value host memory or devices
     * @return this builder
     */
    public Builder place(RankPools.Place value) {
      place = value;
      return this;
    }

    /**
     * Sets the cache groups of a hybrid model.
     *
     * @param further the groups besides full attention; none for other models
     * @return this builder
     */
    public Builder groups(List<PoolGroup> further) {
      groups = List.copyOf(further);
      return this;
    }

    /**
     * Sets whether pools keep block events. The caller drains them after every iteration, so that
     * none is lost.
     *
     * @param kept true to keep those of an iteration; false leaves the shape as it is
     * @return this builder
     */
    public Builder events(boolean kept) {
      events = kept;
      return this;
    }

    /**
     * Sets how ranks run their requests.
     *
     * @param options the same for all ranks
     * @return this builder
     */
    public Builder executor(ExecutorOptions options) {
      executor = options;
      return this;
    }

    /**
     * Sets the router.
     *
     * @param kind the router
     * @param settings settings of the router, and of the balance of prefill
     * @return this builder
     */
    public Builder router(AdpRouterKind kind, AttentionDpConfig settings) {
      router = kind;
      config = settings;
      return this;
    }

    /**
     * Sets the time model of a step, for routers that project times.
     *
     * @param model the model
     * @return this builder
     */
    public Builder timing(StepTiming model) {
      timing = model;
      return this;
    }

    /**
     * Sets the order in which requests wait.
     *
     * @param policy the order
     * @return this builder
     */
    public Builder queue(WaitingQueuePolicy policy) {
      queue = policy;
      return this;
    }

    /**
     * Sets the membership of this process in a worker that spans several processes. All processes
     * have the same settings and submit the same requests; see {@link io.kvasir.engine.lockstep}.
     *
     * @param membership this process's membership, with as many ranks as the builder; null for a
     *     worker of this process alone
     * @return this builder
     */
    public Builder group(@Nullable RankGroup membership) {
      group = membership;
      return this;
    }

    /**
     * Makes the pools and the worker over them.
     *
     * @param engines compute the steps of the ranks
     * @param listener receives the events of all requests of the worker
     * @return the worker; the caller closes it
     * @throws IllegalArgumentException naming the setting that is out of range
     * @throws io.kvasir.engine.device.DeviceOutOfMemoryException if a device has not enough memory;
     *     nothing is kept
     */
    public AdpWorker open(Engines engines, RequestListener listener) {
      RankPools pools = place.open(ranks, events ? shape.withEvents(eventsOf(shape)) : shape);
      try {
        return over(pools.withGroups(groups), engines, listener);
      } catch (RuntimeException | Error e) {
        pools.close();
        throw e;
      }
    }

    private AdpWorker over(RankPools pools, Engines engines, RequestListener listener) {
      int firstRank = group == null ? 0 : group.self().firstRank();
      List<RankExecutor> executors = new ArrayList<>();
      for (int i = 0; i < ranks; i++) {
        int rank = firstRank + i;
        BlockPool pool = pools.pools().get(i);
        RequestListener local = group == null ? listener : group.listener(rank);
        StepEngine engine = engines.of(rank, pool);
        executors.add(new RankExecutor(rank, pool, hasher, engine, executor, local));
      }
      AdpBalance balance = AdpBalance.of(config, executor.maxActiveRequests());
      AdpLoop loop =
          new AdpLoop(
              group, executors, newRouter(), pools.matcher(), queue.newQueue(), balance, listener);
      return new AdpWorker(
          pools, List.copyOf(executors), loop, new RankHealth(loop, pools, firstRank));
    }

    private AdpRouter newRouter() {
      boolean reserves = executor.capacityPolicy() == CapacityPolicy.GUARANTEED_NO_EVICT;
      BlockDemand demand = new BlockDemand(shape.tokensPerBlock(), reserves);
      return router.create(allRanks(), config, demand, timing, executor.tokenBudget(), false);
    }

    /** Ranks of the worker, those of other processes included. */
    private int allRanks() {
      return group == null
          ? ranks
          : group.collective().members().stream().mapToInt(Member::ranks).sum();
    }

    /**
     * Most events that a pool produces in an iteration: no block is evicted twice, and each is
     * stored at most once.
     */
    private static int eventsOf(PoolShape pool) {
      return (int) Math.min(Integer.MAX_VALUE, 2L * pool.capacityBlocks());
    }
  }

  /**
   * Puts a request into the waiting queue.
   *
   * @param request the request
   * @throws IllegalArgumentException as {@link AdpLoop#submit}
   */
  public void submit(HashedRequest request) {
    loop.submit(request);
  }

  /**
   * Requests the cancellation of a request. The next iteration applies it.
   *
   * @param requestId its id
   * @return false if no request with that id is in flight, or its cancellation is already pending
   */
  public boolean cancel(long requestId) {
    return loop.cancel(requestId);
  }

  /**
   * Requests the retirement of a rank. The next iteration retires it before anything else.
   *
   * @param rank its index in the worker
   * @param reason the reason, for listener and log
   * @return false if the rank is retired, or its retirement is already pending
   * @throws IndexOutOfBoundsException if there is no such rank
   * @throws IllegalArgumentException if the rank belongs to another process
   */
  public boolean retire(int rank, String reason) {
    return loop.retire(rank, reason);
  }

  /**
   * Runs one iteration, without the ranks of unhealthy devices. {@link AdpLoop} describes it, and
   * its exceptions.
   *
   * @param nowNs the start time, in nanoseconds
   * @return its duration, in nanoseconds; 0 only if nothing can run before a transfer ends, or no
   *     rank is live
   */
  public long iterate(long nowNs) {
    health.check();
    return loop.iterate(nowNs);
  }

  /** {@return whether no request waits, and all requests on the ranks are in transfer} */
  public boolean idle() {
    return loop.idle();
  }

  /** {@return the number of live ranks of all processes; with none, requests wait for ever} */
  public int liveRanks() {
    return loop.liveRanks();
  }

  /**
   * Whether a rank is live.
   *
   * @param rank its index in the worker
   * @return false once it is retired; its pool must not be used any more
   * @throws IndexOutOfBoundsException if there is no such rank
   */
  public boolean isLive(int rank) {
    return loop.isLive(rank);
  }

  /**
   * The end of the next KV transfer; see {@link AdpLoop#nextWakeNs}.
   *
   * @return the time, or {@link AdpLoop#NEVER}
   */
  public long nextWakeNs() {
    return loop.nextWakeNs();
  }

  /**
   * Finishes the requests whose KV has been sent by now and releases their blocks.
   *
   * @param nowNs the current time, in nanoseconds
   */
  public void endTransfers(long nowNs) {
    loop.endTransfers(nowNs);
  }

  /**
   * Moves the end of a transfer that has started: its time depends on the receiver too. For a
   * worker of one process. O(ranks + transfers of a rank).
   *
   * @param requestId the request
   * @param endNs its end; {@link AdpLoop#NEVER} until it is known
   * @return false if the request is not in transfer here
   */
  public boolean endTransferAt(long requestId, long endNs) {
    for (RankExecutor executor : executors) {
      if (executor.endTransferAt(requestId, endNs)) {
        return true;
      }
    }
    return false;
  }

  /** {@return the pools of this process's ranks, in rank order} */
  public List<BlockPool> pools() {
    return pools.pools();
  }

  /** {@return the executors of this process's ranks, in rank order} */
  public List<RankExecutor> executors() {
    return executors;
  }

  /** Closes the pools. */
  @Override
  public void close() {
    pools.close();
  }
}
