package io.kvasir.embedded.ranks;

import io.kvasir.engine.execute.AdpLoop;
import io.kvasir.engine.execute.RankExecutor;
import io.kvasir.engine.execute.RankHealth;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.RequestListener;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker: pools, executors with modelled time, and the loop over them. Owns its pools.
 *
 * <p>Confined to the loop's thread, except for {@link #occupancy}.
 */
public final class RankWorker implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RankWorker.class);

  private final RankPools pools;
  private final List<RankExecutor> executors = new ArrayList<>();
  private final AdpLoop loop;
  private final RankHealth health;
  private final List<BlockFeed> feeds;

  /**
   * Creates the worker and its pools.
   *
   * @param feeds follow the pools, one for each rank; none if nobody needs them
   * @param steps follow what the ranks compute; null for none
   */
  static RankWorker open(
      EmbeddedSettings settings,
      RankPools.Place place,
      BlockHasher hasher,
      LongFunction<Answer> answers,
      RequestListener listener,
      List<BlockFeed> feeds,
      @Nullable ReportedSteps steps) {
    PoolShape shape = settings.poolShape();
    RankPools pools =
        place.open(settings.ranks(), feeds.isEmpty() ? shape : shape.withEvents(eventsOf(shape)));
    try {
      return new RankWorker(settings, pools, hasher, answers, listener, feeds, steps);
    } catch (RuntimeException | Error e) {
      pools.close();
      throw e;
    }
  }

  private RankWorker(
      EmbeddedSettings settings,
      RankPools pools,
      BlockHasher hasher,
      LongFunction<Answer> answers,
      RequestListener listener,
      List<BlockFeed> feeds,
      @Nullable ReportedSteps steps) {
    this.pools = pools;
    this.feeds = feeds;
    StepEngine engine = new WordStepEngine(new TimedStepEngine(settings.timing()), answers);
    for (int rank = 0; rank < settings.ranks(); rank++) {
      executors.add(
          new RankExecutor(
              rank,
              pools.pools().get(rank),
              hasher,
              steps == null ? engine : steps.of(rank, engine),
              settings.executor(),
              listener));
    }
    this.loop =
        AdpLoop.of(
            null,
            executors,
            settings.router(),
            settings.routing(),
            settings.timing(),
            pools.matcher(),
            settings.queuePolicy().newQueue(),
            listener);
    this.health = new RankHealth(loop, pools);
  }

  /**
   * Most events that a pool produces in an iteration: no block is evicted twice, and each is stored
   * at most once.
   */
  private static int eventsOf(PoolShape pool) {
    return (int) Math.min(Integer.MAX_VALUE, 2L * pool.capacityBlocks());
  }

  /** Puts a request into the waiting queue. */
  void submit(HashedRequest request) {
    loop.submit(request);
  }

  /** Requests a cancellation; the next iteration applies it. */
  void cancel(long id) {
    loop.cancel(id);
  }

  /** Requests the retirement of a rank; the next iteration applies it. */
  void retire(int rank, String reason) {
    loop.retire(rank, reason);
  }

  boolean idle() {
    return loop.idle();
  }

  int liveRanks() {
    return loop.liveRanks();
  }

  /** Runs an iteration without the ranks of unhealthy devices; returns its duration. */
  long iterate(long nowNs) {
    health.check();
    return loop.iterate(nowNs);
  }

  /**
   * Executes deferred operations of the pools, so that {@link #occupancy} includes them. Ranks
   * whose pools fail are retired by the next iteration.
   *
   * @return whether all pools are settled
   */
  boolean settle() {
    boolean settled = true;
    for (RankExecutor executor : executors) {
      try {
        executor.settle();
      } catch (RuntimeException e) {
        LOG.warn("Rank {} cannot settle its pool", executor.rank(), e);
        loop.retire(executor.rank(), String.valueOf(e.getMessage()));
        settled = false;
      }
    }
    return settled;
  }

  /** Passes what has changed in the pools to the feeds. */
  void drainBlocks() {
    for (int rank = 0; rank < feeds.size(); rank++) {
      if (loop.isLive(rank)) {
        feeds.get(rank).drain(pools.pools().get(rank));
      } else {
        feeds.get(rank).retire();
      }
    }
  }

  /** Removes all blocks that no request uses, on all live ranks. */
  public void clearBlocks() {
    for (int rank = 0; rank < executors.size(); rank++) {
      if (loop.isLive(rank)) {
        pools.pools().get(rank).clear();
      }
    }
    drainBlocks();
  }

  /** Lets the blocks of a rank begin anew; see {@link BlockFeed#restart}. */
  public void restartBlocks(int rank) {
    if (loop.isLive(rank)) {
      feeds.get(rank).restart(pools.pools().get(rank));
    }
  }

  /** What a rank holds. */
  public BlockFeed.Truth blocks(int rank) {
    return feeds.get(rank).truth();
  }

  /**
   * The occupancy of a rank's pool. Any thread.
   *
   * @throws IllegalStateException if the pool is closed
   */
  Occupancy occupancy(int rank) {
    return pools.pools().get(rank).occupancy();
  }

  @Override
  public void close() {
    pools.close();
  }
}
