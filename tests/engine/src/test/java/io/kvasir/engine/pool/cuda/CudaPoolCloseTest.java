package io.kvasir.engine.pool.cuda;

import static io.kvasir.engine.pool.cuda.CudaBlockPoolInPhasesTest.NO_BLOCKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.ShimCall;
import io.kvasir.engine.device.ShimDevice;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.testing.pool.PoolScenario;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What is closed while a device still works. The devices object if memory in use is freed. */
class CudaPoolCloseTest {

  private static final int OUT_OF_MEMORY = 2;
  private static final int ILLEGAL_ADDRESS = 700;
  private static final long BYTES = 1 << 24;
  private static final long SEEDS = 30;
  private static final PoolShape SHAPE = PoolScenario.shape(8, 4, 0);

  /** Closes a pool on each of many devices, right after some work; returns how many had work. */
  private static int closeAfter(Consumer<PoolScenario> work) {
    int pending = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      try (ShimDevice device = ShimDevice.of(BYTES, seed)) {
        CudaBlockPool pool = CudaBlockPool.create(device, SHAPE, 16);
        work.accept(new PoolScenario(pool));
        pending += device.pending() > 0 ? 1 : 0;
        pool.close();
        pool.close();
        assertThat(device.freeBytes()).as("seed %d", seed).isEqualTo(BYTES);
      }
    }
    return pending;
  }

  /** Records a commit and a release. */
  private static void record(PoolScenario pool) {
    int lease = pool.start(pool.want("ABC"));
    pool.commit(lease, "ABC", 0, 3);
    pool.release(lease);
  }

  @Test
  void aPoolIsClosedDuringItsSubmission() {
    int pending =
        closeAfter(
            pool -> {
              record(pool);
              pool.pool().submit();
            });
    assertThat(pending).as("pools with pending work").isGreaterThan((int) SEEDS / 2);
  }

  @Test
  void aPoolIsClosedAfterHalfOfASubmissionWasRefused() {
    int refused = 0;
    for (ShimCall call : List.of(ShimCall.LAUNCH, ShimCall.COPY)) {
      for (int nth = 1; nth <= 9; nth++) {
        for (long seed = 0; seed < SEEDS; seed++) {
          try (ShimDevice device = ShimDevice.of(BYTES, seed);
              CudaBlockPool pool =
                  CudaBlockPool.of(PoolOnDevice.create(device, SHAPE, 16, 1 << 10, NO_BLOCKS))) {
            record(new PoolScenario(pool));
            device.failAt(call, nth, OUT_OF_MEMORY);
            refused += catchThrowable(pool::submit) == null ? 0 : 1;
          }
        }
      }
    }
    assertThat(refused).isGreaterThan(9 * (int) SEEDS);
  }

  @Test
  void aPoolIsClosedWhileOthersOnTheDeviceWork() {
    for (long seed = 0; seed < SEEDS; seed++) {
      try (ShimDevice device = ShimDevice.of(BYTES, seed);
          CudaBlockPool working = CudaBlockPool.create(device, SHAPE, 16)) {
        PoolScenario scenario = new PoolScenario(working);
        int lease = scenario.start(scenario.want("ABC"));
        CudaBlockPool closed = CudaBlockPool.create(device, SHAPE, 16);
        scenario.commit(lease, "ABC", 0, 3);
        working.submit();
        closed.close();
        working.complete();
        assertThat(scenario.held("ABC")).isEqualTo(3);
      }
    }
  }

  @Test
  void lookUpsEndBeforeTheMatcherAndThePoolsAreClosed() {
    for (ShimCall call : List.of(ShimCall.COPY, ShimCall.LAUNCH, ShimCall.SYNCHRONIZE)) {
      for (long seed = 0; seed < SEEDS; seed++) {
        try (ShimDevice first = ShimDevice.of(BYTES, seed);
            ShimDevice second = ShimDevice.of(BYTES, seed + 1);
            RankPools pools = RankPools.onDevices(List.of(first, second), 2, SHAPE, KvShape.NONE)) {
          ProbeBatch batch = new ProbeBatch();
          batch.add(new long[] {1, 2, 3}, 3);
          second.failAt(call, 1, OUT_OF_MEMORY);
          ((CudaPrefixMatcher) pools.matcher()).matchOnDevices(batch);
          assertThat(first.pending()).as("%s, seed %d", call, seed).isZero();
        }
      }
    }
  }

  @Test
  void aPoolOfALostDeviceIsClosedDuringItsSubmission() {
    for (long seed = 0; seed < SEEDS; seed++) {
      try (ShimDevice device = ShimDevice.of(BYTES, seed);
          CudaBlockPool pool = CudaBlockPool.create(device, SHAPE, 16)) {
        record(new PoolScenario(pool));
        pool.submit();
        device.failAt(ShimCall.SYNCHRONIZE, 1, ILLEGAL_ADDRESS);
        assertThatThrownBy(pool::complete).isInstanceOf(FatalDeviceException.class);
      }
    }
  }

  @Test
  void poolsOfADeviceThatHangsAreClosedAndKeepTheirMemory() {
    try (ShimDevice device = ShimDevice.of(BYTES)) {
      RankPools pools = RankPools.onDevices(List.of(device), 2, SHAPE, KvShape.NONE);
      PoolScenario scenario = new PoolScenario(pools.pools().get(0));
      int lease = scenario.start(scenario.want("ABC"));
      scenario.commit(lease, "ABC", 0, 3);
      device.hang();
      pools.pools().get(0).submit();
      long freeBytes = device.unusedBytes();
      pools.close();
      assertThat(device.unusedBytes() - freeBytes).as("freed").isLessThan(1 << 21);
      assertThatThrownBy(pools.pools().get(0)::occupancy).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aPoolThatWaitsForADeviceThatHangsIsLost() {
    try (ShimDevice device = ShimDevice.of(BYTES);
        PoolScenario first = new PoolScenario(CudaBlockPool.create(device, SHAPE, 16));
        PoolScenario second = new PoolScenario(CudaBlockPool.create(device, SHAPE, 16))) {
      first.cache("ABC");
      device.hang();
      assertThatThrownBy(() -> first.cache("BCD"))
          .isInstanceOf(FatalDeviceException.class)
          .hasMessageContaining("does not respond");
      assertThatThrownBy(first::occupancy).isInstanceOf(FatalDeviceException.class);
      assertThatThrownBy(() -> second.cache("ABC")).isInstanceOf(FatalDeviceException.class);
    }
  }
}
