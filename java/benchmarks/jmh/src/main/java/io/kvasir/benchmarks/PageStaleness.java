package io.kvasir.benchmarks;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.model.CacheScope;

/**
 * Measures the time from submitting a change of a device pool to its appearance in the occupancy
 * page. Not thread-safe.
 */
final class PageStaleness {

  private static final PoolShape SHAPE = new PoolShape(4096, 16, 16, 64, 0);
  private static final long LOAD_NS = 5_000_000;
  private static final int READS = 10_000;

  private final DeviceApi device;
  private final DeviceLoad load;
  private final DeviceBenchmark.Size size;

  PageStaleness(DeviceApi device, DeviceLoad load, DeviceBenchmark.Size size) {
    this.device = device;
    this.load = load;
    this.size = size;
  }

  void print(double floorUs) {
    try (CudaBlockPool pool = CudaBlockPool.create(device, SHAPE, 0)) {
      measure(pool, "page_idle", 0, floorUs);
      measure(pool, "page_beside_load", LOAD_NS, floorUs);
      load.begin(LOAD_NS);
      long from = System.nanoTime();
      long sum = 0;
      for (int i = 0; i < READS; i++) {
        sum += pool.occupancy().freeBlocks();
      }
      double ns = (double) (System.nanoTime() - from) / READS;
      load.end();
      if (sum < 0) {
        throw new IllegalStateException("negative counts");
      }
      Figures.print("page_read_beside_load", ns, "ns");
    }
  }

  private void measure(CudaBlockPool pool, String name, long loadNs, double floorUs) {
    long[] visibleNs = new long[size.rounds()];
    int unseen = 0;
    for (int round = -size.rounds(); round < size.rounds(); round++) {
      LeaseBatch lease = new LeaseBatch();
      lease.add(new int[0], new long[0], CacheScope.NONE, 0, 1, 0);
      pool.lease(lease);
      if (loadNs > 0) {
        load.begin(loadNs);
      }
      long tick = pool.occupancy().tick();
      pool.release(new int[] {lease.lease(0)}, 1);
      long from = System.nanoTime();
      pool.submit();
      long visible = from;
      while (pool.occupancy().tick() == tick && visible - from < size.patienceNs()) {
        Thread.onSpinWait();
        visible = System.nanoTime();
      }
      boolean seen = pool.occupancy().tick() != tick;
      pool.complete();
      load.end();
      visibleNs[Math.max(0, round)] = visible - from;
      unseen += round >= 0 && !seen ? 1 : 0;
    }
    Figures.print(name + "_submitted_to_visible", Figures.medianUs(visibleNs), "us", floorUs);
    Figures.print(name + "_not_seen_before_finished", unseen, "changes", "0");
  }
}
