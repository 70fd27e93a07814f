package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.StepTiming;
import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Checks;
import java.util.List;

/**
 * The settings of the worker that a replay drives.
 *
 * <p>Immutable.
 *
 * @param ranks number of ranks
 * @param poolTokens tokens that each rank's pool holds; rounded down to whole blocks
 * @param tokensPerBlock tokens of a block
 * @param hashFormat how blocks are hashed
 * @param router the ADP router
 * @param routing options of the routers
 * @param executor how ranks run their requests
 * @param queuePolicy order of the waiting queue
 * @param timing the timing model
 * @param mode which phases of serving the ranks run
 */
public record ReplaySettings(
    int ranks,
    int poolTokens,
    int tokensPerBlock,
    HashFormat hashFormat,
    AdpRouterKind router,
    AttentionDpConfig routing,
    ExecutorOptions executor,
    WaitingQueuePolicy queuePolicy,
    StepTiming timing,
    ReplayMode mode) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public ReplaySettings {
    Checks.atLeast("ranks", ranks, 1);
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    if (poolTokens < tokensPerBlock) {
      throw new IllegalArgumentException(
          "poolTokens must hold at least one block of " + tokensPerBlock + ", not " + poolTokens);
    }
  }

  /**
   * Settings of a worker whose ranks compute prompts and answers.
   *
   * @param ranks number of ranks
   * @param poolTokens tokens that each rank's pool holds
   * @param tokensPerBlock tokens of a block
   * @param hashFormat how blocks are hashed
   * @param router the ADP router
   * @param routing options of the routers
   * @param executor how ranks run their requests
   * @param queuePolicy order of the waiting queue
   * @param timing the timing model
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public ReplaySettings(
      int ranks,
      int poolTokens,
      int tokensPerBlock,
      HashFormat hashFormat,
      AdpRouterKind router,
      AttentionDpConfig routing,
      ExecutorOptions executor,
      WaitingQueuePolicy queuePolicy,
      StepTiming timing) {
    this(
        ranks,
        poolTokens,
        tokensPerBlock,
        hashFormat,
        router,
        routing,
        executor,
        queuePolicy,
        timing,
        ReplayMode.AGGREGATED);
  }

  /** {@return the executor options in this mode; in context mode with the transfer} */
  public ExecutorOptions executorOptions() {
    return mode instanceof ReplayMode.Context context
        ? executor.withKvTransfer(context.transfer())
        : executor;
  }

  /** {@return the number of blocks of each rank's pool, at least 1} */
  public int poolBlocks() {
    return poolTokens / tokensPerBlock;
  }

  /**
   * {@return the shape of each rank's pool, with leases for all requests, plus as many in transfer
   * in context mode; each lease may take the whole pool; no events}
   */
  public PoolShape poolShape() {
    int active = executor.maxActiveRequests();
    int leases = mode instanceof ReplayMode.Context ? 2 * active : active;
    return new PoolShape(poolBlocks(), tokensPerBlock, leases, poolBlocks(), 0);
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
    PoolShape most = poolShape().withBlocks(Integer.MAX_VALUE / tokensPerBlock);
    int blocks = RankPools.blocksThatFit(devices, ranks, most, kv, freeMemoryFraction);
    if (blocks == 0) {
      throw new DeviceOutOfMemoryException(
          "that share of the devices' memory", kv.bytesPerBlock(tokensPerBlock), -1, null);
    }
    return withPoolTokens(blocks * tokensPerBlock);
  }

  /**
   * These settings with another pool size.
   *
   * @param tokens tokens that each pool holds
   * @return the settings
   * @throws IllegalArgumentException if not even one block fits
   */
  public ReplaySettings withPoolTokens(int tokens) {
    return new ReplaySettings(
        ranks,
        tokens,
        tokensPerBlock,
        hashFormat,
        router,
        routing,
        executor,
        queuePolicy,
        timing,
        mode);
  }

  /**
   * These settings with another mode.
   *
   * @param other which phases of serving the ranks run
   * @return the settings
   */
  public ReplaySettings withMode(ReplayMode other) {
    return new ReplaySettings(
        ranks,
        poolTokens,
        tokensPerBlock,
        hashFormat,
        router,
        routing,
        executor,
        queuePolicy,
        timing,
        other);
  }

  /**
   * These settings with another hash format.
   *
   * @param format how blocks are hashed
   * @return the settings
   */
  public ReplaySettings withHashFormat(HashFormat format) {
    return new ReplaySettings(
        ranks,
        poolTokens,
        tokensPerBlock,
        format,
        router,
        routing,
        executor,
        queuePolicy,
        timing,
        mode);
  }

  /**
   * These settings with another number of ranks.
   *
   * @param count number of ranks
   * @return the settings
   * @throws IllegalArgumentException if it is below 1
   */
  public ReplaySettings withRanks(int count) {
    return new ReplaySettings(
        count,
        poolTokens,
        tokensPerBlock,
        hashFormat,
        router,
        routing,
        executor,
        queuePolicy,
        timing,
        mode);
  }

  /**
   * These settings with another router.
   *
   * @param other the router
   * @return the settings
   */
  public ReplaySettings withRouter(AdpRouterKind other) {
    return new ReplaySettings(
        ranks,
        poolTokens,
        tokensPerBlock,
        hashFormat,
        other,
        routing,
        executor,
        queuePolicy,
        timing,
        mode);
  }
}
