package io.kvasir.simulator.replay;

import io.kvasir.execute.ExecutorOptions;
import io.kvasir.execute.QueuePolicy;
import io.kvasir.execute.StepTiming;
import io.kvasir.hash.HashFormat;
import io.kvasir.route.AdpRouterKind;
import io.kvasir.route.KvCacheRoutingOptions;

/**
 * The instance that a replay drives.
 *
 * <p>Immutable.
 *
 * @param ranks number of ranks
 * @param poolTokens tokens that each rank's pool holds; rounded down to whole blocks
 * @param tokensPerBlock tokens of a block
 * @param hashFormat how blocks are named
 * @param router who places requests
 * @param routing options of the routers that follow the cache
 * @param executor how ranks run their requests
 * @param queuePolicy order of the waiting queue
 * @param timing the model of time
 */
public record ReplaySettings(
    int ranks,
    int poolTokens,
    int tokensPerBlock,
    HashFormat hashFormat,
    AdpRouterKind router,
    KvCacheRoutingOptions routing,
    ExecutorOptions executor,
    QueuePolicy queuePolicy,
    StepTiming timing) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public ReplaySettings {
    if (ranks < 1) {
      throw new IllegalArgumentException("ranks must be at least 1, not " + ranks);
    }
    if (tokensPerBlock < 1) {
      throw new IllegalArgumentException(
          "tokensPerBlock must be at least 1, not " + tokensPerBlock);
    }
    if (poolTokens < tokensPerBlock) {
      throw new IllegalArgumentException(
          "poolTokens must hold at least one block of " + tokensPerBlock + ", not " + poolTokens);
    }
  }

  /**
   * Blocks of each rank's pool.
   *
   * @return at least 1
   */
  public int poolBlocks() {
    return poolTokens / tokensPerBlock;
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
        timing);
  }
}
