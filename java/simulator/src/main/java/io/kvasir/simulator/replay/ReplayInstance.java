package io.kvasir.simulator.replay;

import io.kvasir.execute.AdpLoop;
import io.kvasir.execute.RankExecutor;
import io.kvasir.execute.RankHealth;
import io.kvasir.execute.RequestListener;
import io.kvasir.execute.StepEngine;
import io.kvasir.hash.BlockHasher;
import io.kvasir.model.Occupancy;
import io.kvasir.pool.BlockPool;
import io.kvasir.pool.RankPools;
import java.util.ArrayList;
import java.util.List;

/**
 * The instance under replay: pools, executors with modelled time, and the loop over them.
 *
 * <p>Confined to the thread that drives the replay. Owns its pools.
 */
final class ReplayInstance implements AutoCloseable {

  private final ReplaySettings settings;
  private final RankPools pools;
  private final List<RankMeter> meters = new ArrayList<>();
  private final AdpLoop loop;
  private final RankHealth health;

  /** Makes a rank's result of what it measured. */
  interface RankSummary {
    RankResult of(int rank, RankMeter meter, Occupancy occupancy);
  }

  ReplayInstance(
      ReplaySettings settings,
      RankPools.Place place,
      BlockHasher hasher,
      StepEngine engine,
      RequestListener listener) {
    this.settings = settings;
    this.pools = place.open(settings.ranks(), settings.poolShape());
    List<RankExecutor> executors = new ArrayList<>();
    for (int rank = 0; rank < settings.ranks(); rank++) {
      BlockPool pool = pools.pools().get(rank);
      RankMeter meter = new RankMeter(engine, pool);
      meters.add(meter);
      executors.add(new RankExecutor(rank, pool, hasher, meter, settings.executor(), listener));
    }
    this.loop =
        new AdpLoop(
            executors,
            settings
                .router()
                .create(settings.ranks(), settings.routing(), settings.blockDemand(), false),
            pools.matcher(),
            settings.queuePolicy().newQueue(),
            listener);
    this.health = new RankHealth(loop, pools);
  }

  ReplaySettings settings() {
    return settings;
  }

  AdpLoop loop() {
    return loop;
  }

  /** Runs an iteration, without the ranks of devices that are not healthy any more. */
  long iterate(long nowNs) {
    health.check();
    return loop.iterate(nowNs);
  }

  List<RankResult> ranks(RankSummary summary) {
    List<RankResult> results = new ArrayList<>();
    for (int rank = 0; rank < meters.size(); rank++) {
      RankMeter meter = meters.get(rank);
      // A lost pool is not asked; what its rank saw last stands.
      Occupancy occupancy = loop.isLive(rank) ? occupancy(rank) : meter.lastOccupancy();
      results.add(summary.of(rank, meter, occupancy));
    }
    return results;
  }

  private Occupancy occupancy(int rank) {
    BlockPool pool = pools.pools().get(rank);
    pool.settle();
    return pool.occupancy();
  }

  @Override
  public void close() {
    pools.close();
  }
}
