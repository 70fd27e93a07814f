package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Checks;
import io.kvasir.timing.StepTiming;
import java.util.List;

/**
 * The settings of the worker that a replay drives.
 *
 * <p>Immutable.
 *
 * @param ranks number of ranks
 * @param pool the pool of each rank
 * @param routing how the worker's requests are placed
 * @param executor how ranks run their requests
 * @param timing the timing model that the worker's router begins with
 * @param engines what the ranks do
 * @param mode which phases of serving the ranks run
 * @param measures what is measured besides the usual figures
 * @param sight what routers see of the requests
 */
public record ReplaySettings(
    int ranks,
    Pool pool,
    Routing routing,
    ExecutorOptions executor,
    StepTiming timing,
    Engines engines,
    ReplayMode mode,
    Measures measures,
    Sight sight) {

  /**
   * The pool of each rank.
   *
   * @param tokens tokens that it holds; rounded down to whole blocks
   * @param tokensPerBlock tokens of a block
   * @param hashFormat how blocks are hashed
   * @param groups cache groups of a hybrid model besides full attention
   */
  public record Pool(
      int tokens, int tokensPerBlock, HashFormat hashFormat, List<PoolGroup> groups) {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public Pool {
      Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
      if (tokens < tokensPerBlock) {
        throw new IllegalArgumentException(
            "poolTokens must hold at least one block of " + tokensPerBlock + ", not " + tokens);
      }
      groups = List.copyOf(groups);
    }

    /** {@return the number of blocks, at least 1} */
    public int blocks() {
      return tokens / tokensPerBlock;
    }
  }

  /**
   * How the requests of the worker are placed.
   *
   * @param router the ADP router
   * @param config options of the routers
   * @param queuePolicy order of the waiting queue
   */
  public record Routing(
      AdpRouterKind router, AttentionDpConfig config, WaitingQueuePolicy queuePolicy) {

    /** The default router without options, first come first served. */
    public static final Routing DEFAULT =
        new Routing(AdpRouterKind.DEFAULT, AttentionDpConfig.DEFAULT, WaitingQueuePolicy.FCFS);
  }

  /**
   * What the ranks do, as opposed to what routers expect.
   *
   * @param timing the timing model of their steps
   * @param faults ranks that are slow or hang
   */
  public record Engines(StepTiming timing, EngineDelays faults) {

    /** The published times, without faults. */
    public static final Engines DEFAULT = new Engines(StepTiming.DEFAULT, EngineDelays.NONE);
  }

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public ReplaySettings {
    Checks.atLeast("ranks", ranks, 1);
  }

  /**
   * Settings of a worker that are all defaults apart from its size.
   *
   * @param ranks number of ranks
   * @param poolTokens tokens that each pool holds
   * @param tokensPerBlock tokens of a block
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public ReplaySettings(int ranks, int poolTokens, int tokensPerBlock) {
    this(
        ranks,
        new Pool(poolTokens, tokensPerBlock, HashFormat.KVASIR, List.of()),
        Routing.DEFAULT,
        ExecutorOptions.DEFAULT,
        StepTiming.DEFAULT,
        Engines.DEFAULT,
        ReplayMode.AGGREGATED,
        Measures.NONE,
        Sight.WHOLE);
  }

  /** {@return the executor options in this mode; with the transfer on ranks that send KV} */
  public ExecutorOptions executorOptions() {
    if (mode instanceof ReplayMode.Apart apart && apart.prefills()) {
      return executor.withKvTransfer(apart.transfer());
    }
    return mode instanceof ReplayMode.Context context
        ? executor.withKvTransfer(context.transfer())
        : executor;
  }

  /**
   * {@return the shape of each rank's pool, with leases for all requests, plus as many in transfer
   * on ranks that send or receive KV; each lease may take the whole pool; no events}
   */
  public PoolShape poolShape() {
    int active = executor.maxActiveRequests();
    int leases = mode instanceof ReplayMode.Aggregated ? active : 2 * active;
    return new PoolShape(pool.blocks(), pool.tokensPerBlock, leases, pool.blocks(), 0);
  }

  /**
   * These settings with pools sized to a fraction of the devices' free memory.
   *
   * @param devices the devices of the pools
   * @param kv the KV shape of a token
   * @param freeMemoryFraction above 0, at most 1
   * @return the settings
   * @throws DeviceOutOfMemoryException if not even one block fits
   */
  public ReplaySettings sizedFor(List<DeviceApi> devices, KvShape kv, double freeMemoryFraction) {
    int blockTokens = pool.tokensPerBlock;
    PoolShape most = poolShape().withBlocks(Integer.MAX_VALUE / blockTokens);
    int blocks = RankPools.blocksThatFit(devices, ranks, most, kv, freeMemoryFraction);
    if (blocks == 0) {
      throw new DeviceOutOfMemoryException(
          "that share of the devices' memory", kv.bytesPerBlock(blockTokens), -1, null);
    }
    return withPoolTokens(blocks * blockTokens);
  }

  /**
   * These settings with another pool size.
   *
   * @param tokens tokens that each pool holds
   * @return the settings
   * @throws IllegalArgumentException if not even one block fits
   */
  public ReplaySettings withPoolTokens(int tokens) {
    Pool other = new Pool(tokens, pool.tokensPerBlock, pool.hashFormat, pool.groups);
    return new ReplaySettings(
        ranks, other, routing, executor, timing, engines, mode, measures, sight);
  }

  /**
   * These settings for a hybrid model.
   *
   * @param groups its cache groups besides full attention
   * @return the settings
   */
  public ReplaySettings withGroups(List<PoolGroup> groups) {
    Pool other = new Pool(pool.tokens, pool.tokensPerBlock, pool.hashFormat, groups);
    return new ReplaySettings(
        ranks, other, routing, executor, timing, engines, mode, measures, sight);
  }

  /**
   * These settings with another hash format.
   *
   * @param format how blocks are hashed
   * @return the settings
   */
  public ReplaySettings withHashFormat(HashFormat format) {
    Pool other = new Pool(pool.tokens, pool.tokensPerBlock, format, pool.groups);
    return new ReplaySettings(
        ranks, other, routing, executor, timing, engines, mode, measures, sight);
  }

  /**
   * These settings with another router.
   *
   * @param other the router
   * @return the settings
   */
  public ReplaySettings withRouter(AdpRouterKind other) {
    return withRouting(new Routing(other, routing.config, routing.queuePolicy));
  }

  /**
   * These settings with other routing.
   *
   * @param other how the worker's requests are placed
   * @return the settings
   */
  public ReplaySettings withRouting(Routing other) {
    return new ReplaySettings(ranks, pool, other, executor, timing, engines, mode, measures, sight);
  }

  /**
   * These settings with other options of the executors.
   *
   * @param other how ranks run their requests
   * @return the settings
   */
  public ReplaySettings withExecutor(ExecutorOptions other) {
    return new ReplaySettings(ranks, pool, routing, other, timing, engines, mode, measures, sight);
  }

  /**
   * These settings with another mode.
   *
   * @param other which phases of serving the ranks run
   * @return the settings
   */
  public ReplaySettings withMode(ReplayMode other) {
    return new ReplaySettings(
        ranks, pool, routing, executor, timing, engines, other, measures, sight);
  }

  /**
   * These settings with other measures.
   *
   * @param other what is measured besides the usual figures
   * @return the settings
   */
  public ReplaySettings withMeasures(Measures other) {
    return new ReplaySettings(ranks, pool, routing, executor, timing, engines, mode, other, sight);
  }

  /**
   * These settings with another timing model, for the router and the ranks.
   *
   * @param other the timing model
   * @return the settings
   */
  public ReplaySettings withTiming(StepTiming other) {
    Engines same = new Engines(other, engines.faults);
    return new ReplaySettings(ranks, pool, routing, executor, other, same, mode, measures, sight);
  }

  /**
   * These settings with other engines.
   *
   * @param other what the ranks do
   * @return the settings
   */
  public ReplaySettings withEngines(Engines other) {
    return new ReplaySettings(ranks, pool, routing, executor, timing, other, mode, measures, sight);
  }

  /**
   * The same settings with routers that see something else of the requests.
   *
   * @param other what they see
   * @return the settings
   */
  public ReplaySettings withSight(Sight other) {
    return new ReplaySettings(
        ranks, pool, routing, executor, timing, engines, mode, measures, other);
  }
}
