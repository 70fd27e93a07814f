package io.kvasir.engine.pool.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.TestDevices;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.OccupancyPage;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.RankId;
import io.kvasir.testing.pool.PoolChurn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool whose kernels write page and events where another process reads them. */
@Tag("device")
class CudaSharedPoolTest {

  private static final PoolShape SHAPE = new PoolShape(60, 2, 6, 12, 64);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final long seed = Long.getLong("kvasir.test.seed", 1);
  private final AtomicLong clock = new AtomicLong();

  @TempDir(factory = MemoryFolder.class)
  private Path folder;

  @Test
  void aReaderKnowsWhatThePoolKnows() throws IOException {
    Path file = folder.resolve("pool");
    try (DeviceApi device = TestDevices.open(seed);
        SharedPoolRegion region = SharedPoolRegion.create(file, SHAPE, new RankId(1, 0), 64);
        CudaBlockPool pool = CudaBlockPool.create(device, region);
        SharedPoolReader reader = SharedPoolReader.open(file, PATIENCE, clock::get);
        SharedPoolReader slow = SharedPoolReader.open(file, PATIENCE, clock::get)) {
      PoolChurn churn = new PoolChurn(pool, seed);
      for (int step = 0; step < 120; step++) {
        churn.comeOrGo();
        pool.drainEvents((eventId, event) -> {}); // waits for the device
        assertThat(reader.poll()).isTrue();
        compare(reader, pool, churn, step);
      }
      assertThat(pool.occupancy().evictedBlocks()).isPositive();
      assertThat(slow.poll()).as("more events than the ring keeps").isFalse();
      churn.comeOrGo();
      pool.drainEvents((eventId, event) -> {});
      assertThat(slow.poll()).as("a snapshot").isTrue();
      compare(slow, pool, churn, -1);
      assertThat(slow.snapshots()).isOne();
    }
  }

  private void compare(SharedPoolReader reader, CudaBlockPool pool, PoolChurn churn, int step) {
    ProbeBatch probes = churn.probes();
    int[] matched = new int[probes.size()];
    reader.probe(probes, matched, 0);
    assertThat(matched).as("seed %d, step %d", seed, step).isEqualTo(churn.matched());
    assertThat(reader.occupancy()).isEqualTo(pool.occupancy());
  }

  @Test
  void countsAreToldEvenIfTheirWriterDiedOverThem() throws IOException {
    try (DeviceApi device = TestDevices.open(seed);
        SharedPoolRegion region =
            SharedPoolRegion.create(folder.resolve("pool"), SHAPE, new RankId(1, 0), 0);
        CudaBlockPool pool = CudaBlockPool.create(device, region)) {
      Occupancy before = pool.occupancy();
      ByteBuffer page = NativeMemory.view(region.pageAddress(), OccupancyPage.BYTES);
      page.putLong(0, page.getLong(0) + 1);
      page.putLong(Long.BYTES, 12345);
      assertThat(pool.occupancy()).isEqualTo(before);
    }
  }

  /** The device objects if memory stays page-locked. */
  @Test
  void aPoolIsClosedAfterItsRegion() throws IOException {
    try (DeviceApi device = TestDevices.open(seed)) {
      SharedPoolRegion region =
          SharedPoolRegion.create(folder.resolve("pool"), SHAPE, new RankId(1, 0), 0);
      try (CudaBlockPool pool = CudaBlockPool.create(device, region)) {
        new PoolChurn(pool, seed).comeOrGo();
        pool.submit();
        region.close();
      }
    }
  }

  @Test
  void theRingMustHoldTheEventsOfOneOperation() throws IOException {
    PoolShape small = new PoolShape(60, 2, 6, 12, 59);
    try (DeviceApi device = TestDevices.open(seed);
        SharedPoolRegion region =
            SharedPoolRegion.create(folder.resolve("pool"), small, new RankId(1, 0), 0)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> CudaBlockPool.create(device, region))
          .withMessageContaining("must be at least its capacityBlocks, 60, not 59");
    }
  }
}
