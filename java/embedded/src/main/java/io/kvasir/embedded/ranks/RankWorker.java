package io.kvasir.embedded.ranks;

import io.kvasir.engine.execute.AdpWorker;
import io.kvasir.engine.execute.RankExecutor;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.RequestListener;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker, with modelled time and the words of answers, and the feeds of its blocks. Owns its
 * pools.
 *
 * <p>Confined to the loop's thread, except for {@link #occupancy}.
 */
public final class RankWorker implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RankWorker.class);

  private final AdpWorker worker;
  private final List<BlockFeed> feeds;
  private final BlockHolds holds;

  /**
   * Creates the worker and its pools.
   *
   * @param feeds follow the pools, one for each rank; none if no one needs them
   * @param steps follow what the ranks compute; null for none
   * @param meters count the blocks that transfers keep
   * @param maxHolds most transfers that keep blocks of a rank at the same time
   */
  RankWorker(
      EmbeddedSettings settings,
      RankPools.Place place,
      BlockHasher hasher,
      LongFunction<Answer> answers,
      RequestListener listener,
      List<BlockFeed> feeds,
      @Nullable ReportedSteps steps,
      RankMeters meters,
      int maxHolds) {
    this.feeds = feeds;
    StepEngine engine = new WordStepEngine(new TimedStepEngine(settings.timing()), answers);
    this.worker =
        AdpWorker.builder(settings.ranks(), withHolds(settings.poolShape(), maxHolds), hasher)
            .place(place)
            .groups(settings.groups())
            .events(!feeds.isEmpty())
            .executor(settings.executor())
            .router(settings.router(), settings.routing())
            .timing(settings.timing())
            .queue(settings.queuePolicy())
            .open((rank, pool) -> steps == null ? engine : steps.of(rank, engine), listener);
    this.holds = new BlockHolds(worker, feeds, meters);
  }

  /** A pool with leases for transfers besides those of requests. */
  private static PoolShape withHolds(PoolShape pool, int maxHolds) {
    return new PoolShape(
        pool.capacityBlocks(),
        pool.tokensPerBlock(),
        pool.maxLeases() + Math.min(pool.capacityBlocks(), maxHolds),
        pool.maxBlocksPerLease(),
        0);
  }

  /** {@return the blocks that transfers keep} */
  public BlockHolds holds() {
    return holds;
  }

  /** Puts a request into the waiting queue. */
  void submit(HashedRequest request) {
    worker.submit(request);
  }

  /** Requests a cancellation; the next iteration applies it. */
  void cancel(long id) {
    worker.cancel(id);
  }

  /** Requests the retirement of a rank; the next iteration applies it. */
  void retire(int rank, String reason) {
    worker.retire(rank, reason);
  }

  boolean idle() {
    return worker.idle();
  }

  int liveRanks() {
    return worker.liveRanks();
  }

  /** Runs an iteration without the ranks of unhealthy devices; returns its duration. */
  long iterate(long nowNs) {
    return worker.iterate(nowNs);
  }

  /**
   * Executes deferred operations of the pools, so that {@link #occupancy} includes them. Ranks
   * whose pools fail are retired by the next iteration.
   *
   * @return whether all pools are settled
   */
  boolean settle() {
    boolean settled = true;
    for (RankExecutor executor : worker.executors()) {
      try {
        executor.settle();
      } catch (RuntimeException e) {
        LOG.warn("Rank {} cannot settle its pool", executor.rank(), e);
        worker.retire(executor.rank(), String.valueOf(e.getMessage()));
        settled = false;
      }
    }
    return settled;
  }

  /** Passes what has changed in the pools to the feeds. */
  void drainBlocks() {
    for (int rank = 0; rank < feeds.size(); rank++) {
      if (worker.isLive(rank)) {
        feeds.get(rank).drain(worker.pools().get(rank));
      } else {
        feeds.get(rank).retire();
      }
    }
  }

  /** Removes all blocks that no request uses, on all live ranks. */
  public void clearBlocks() {
    for (int rank = 0; rank < worker.pools().size(); rank++) {
      if (worker.isLive(rank)) {
        worker.pools().get(rank).clear();
      }
    }
    drainBlocks();
  }

  /**
   * Restarts the blocks of a rank; see {@link BlockFeed#restart}.
   *
   * @param rank the rank
   */
  public void restartBlocks(int rank) {
    if (worker.isLive(rank)) {
      feeds.get(rank).restart(worker.pools().get(rank));
    }
  }

  /**
   * {@return what a rank holds}
   *
   * @param rank the rank
   */
  public BlockFeed.Truth blocks(int rank) {
    return feeds.get(rank).truth();
  }

  /**
   * The occupancy of a rank's pool. Any thread.
   *
   * @throws IllegalStateException if the pool is closed
   */
  Occupancy occupancy(int rank) {
    return worker.pools().get(rank).occupancy();
  }

  @Override
  public void close() {
    worker.close();
  }
}
