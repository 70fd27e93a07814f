package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.device.ShimDevice;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.engine.pool.cuda.CudaPoolMemory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pools are dealt out over devices and sized by the memory there. */
class RankPoolsTest {

  private static final long MIB = 1 << 20;
  private static final PoolShape LARGEST = new PoolShape(1 << 20, 16, 8, 1 << 20, 0);
  private static final KvShape KV = new KvShape(64);

  @Test
  void neighboursShareADevice() {
    try (ShimDevice first = ShimDevice.of(64 * MIB);
        ShimDevice second = ShimDevice.of(64 * MIB);
        RankPools pools =
            RankPools.onDevices(List.of(first, second), 5, LARGEST.withBlocks(100), KV)) {
      List<DeviceApi> devices = new ArrayList<>();
      for (BlockPool pool : pools.pools()) {
        devices.add(((CudaBlockPool) pool).deviceBlocks().device());
      }
      assertThat(devices).containsExactly(first, first, first, second, second);
    }
  }

  @Test
  void poolsTakeTheirShareOfTheMemoryThatIsFree() {
    try (ShimDevice roomy = ShimDevice.of(200 * MIB);
        ShimDevice narrow = ShimDevice.of(64 * MIB)) {
      List<DeviceApi> devices = List.of(roomy, narrow);
      int blocks = RankPools.blocksThatFit(devices, 4, LARGEST, KV, 0.5);

      long share = 64 * MIB / 2 / 2; // of the narrower one, for each of its two ranks
      assertThat(CudaPoolMemory.deviceBytes(LARGEST.withBlocks(blocks), KV))
          .isLessThanOrEqualTo(share);
      assertThat(CudaPoolMemory.deviceBytes(LARGEST.withBlocks(blocks + 1), KV))
          .isGreaterThan(share);
      try (RankPools pools = RankPools.onDevices(devices, 4, LARGEST.withBlocks(blocks), KV)) {
        assertThat(narrow.freeBytes()).isLessThan(32 * MIB);
        assertThat(pools.pools()).hasSize(4);
      }
    }
  }

  @Test
  void nothingFitsWhereThereIsTooLittle() {
    try (ShimDevice device = ShimDevice.of(64 * MIB)) {
      KvShape huge = new KvShape(1 << 30);

      assertThat(RankPools.blocksThatFit(List.of(device), 1, LARGEST, huge, 1)).isZero();
    }
  }

  @Test
  void allOrNoPoolsAreMade() {
    try (ShimDevice device = ShimDevice.of(16 * MIB)) {
      int half = RankPools.blocksThatFit(List.of(device), 2, LARGEST, KV, 1);

      assertThatThrownBy(
              () -> RankPools.onDevices(List.of(device), 3, LARGEST.withBlocks(half), KV))
          .isInstanceOf(DeviceOutOfMemoryException.class)
          .hasMessageContaining("bytes were wanted");
      assertThat(device.freeBytes()).isEqualTo(16 * MIB);
    }
  }
}
