package io.kvasir.simulator.replay;

import io.kvasir.execute.AdpLoop;
import io.kvasir.execute.RankExecutor;
import io.kvasir.execute.RequestListener;
import io.kvasir.execute.StepEngine;
import io.kvasir.hash.BlockHasher;
import io.kvasir.model.Occupancy;
import io.kvasir.pool.NativeBlockPool;
import io.kvasir.pool.NativePrefixMatcher;
import io.kvasir.pool.PoolShape;
import io.kvasir.pool.PrefixMatcher;
import java.util.ArrayList;
import java.util.List;

/**
 * The instance under replay: native pools, executors with modelled time, and the loop over them.
 *
 * <p>Confined to the thread that drives the replay. Owns its pools.
 */
final class ReplayInstance implements AutoCloseable {

  private final ReplaySettings settings;
  private final List<NativeBlockPool> pools = new ArrayList<>();
  private final List<RankMeter> meters = new ArrayList<>();
  private final PrefixMatcher matcher;
  private final AdpLoop loop;

  /** Makes a rank's result of what it measured. */
  interface RankSummary {
    RankResult of(int rank, RankMeter meter, Occupancy occupancy);
  }

  ReplayInstance(
      ReplaySettings settings, BlockHasher hasher, StepEngine engine, RequestListener listener) {
    this.settings = settings;
    PoolShape shape =
        new PoolShape(
            settings.poolBlocks(),
            settings.tokensPerBlock(),
            settings.executor().maxActiveRequests(),
            settings.poolBlocks(),
            0);
    List<RankExecutor> executors = new ArrayList<>();
    for (int rank = 0; rank < settings.ranks(); rank++) {
      NativeBlockPool pool = NativeBlockPool.create(shape);
      pools.add(pool);
      RankMeter meter = new RankMeter(engine, pool);
      meters.add(meter);
      executors.add(new RankExecutor(rank, pool, hasher, meter, settings.executor(), listener));
    }
    this.matcher = new NativePrefixMatcher(pools);
    this.loop =
        new AdpLoop(
            executors,
            settings.router().create(settings.ranks(), settings.routing(), false),
            matcher,
            settings.queuePolicy().newQueue(),
            listener);
  }

  ReplaySettings settings() {
    return settings;
  }

  AdpLoop loop() {
    return loop;
  }

  List<RankResult> ranks(RankSummary summary) {
    List<RankResult> results = new ArrayList<>();
    for (int rank = 0; rank < pools.size(); rank++) {
      RankMeter meter = meters.get(rank);
      // A lost pool is not asked; what its rank saw last stands.
      Occupancy occupancy = loop.isLive(rank) ? pools.get(rank).occupancy() : meter.lastOccupancy();
      results.add(summary.of(rank, meter, occupancy));
    }
    return results;
  }

  @Override
  public void close() {
    matcher.close();
    pools.forEach(NativeBlockPool::close);
  }
}
