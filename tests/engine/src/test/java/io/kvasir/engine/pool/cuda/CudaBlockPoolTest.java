package io.kvasir.engine.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.TestDevices;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.BlockPoolContract;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.RandomPoolRun;
import io.kvasir.engine.pool.ThreadContract;
import io.kvasir.model.CacheScope;
import io.kvasir.testing.pool.PoolEvent;
import io.kvasir.testing.pool.PoolScenario;
import io.kvasir.testing.pool.SettledBlockPool;
import io.kvasir.testing.pool.TestHash;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds the pool on a device to the contract, also where it puts things off. */
@Tag("device")
class CudaBlockPoolTest extends BlockPoolContract implements ThreadContract {

  private final long seed = Long.getLong("kvasir.test.seed", System.nanoTime());
  private final Deque<DeviceApi> devices = new ArrayDeque<>();

  @Override
  public BlockPool create(PoolShape shape) {
    return new SettledBlockPool(createRaw(shape));
  }

  private CudaBlockPool createRaw(PoolShape shape) {
    devices.push(TestDevices.open(seed + devices.size()));
    return create(devices.peek(), shape);
  }

  CudaBlockPool create(DeviceApi device, PoolShape shape) {
    return CudaBlockPool.create(device, shape, 0);
  }

  /** A device says if memory, a stream or an event was not given back. */
  @AfterEach
  void leaveDevices() {
    devices.forEach(DeviceApi::close);
  }

  @Test
  void namesThatAClearPreventsAreNotFoundBeforeTheDeviceSaysSo() {
    try (PoolScenario pool = new PoolScenario(createRaw(PoolScenario.shape(8, 4, 0)))) {
      int before = pool.start(pool.want("AB"));
      pool.pool().clear();
      int after = pool.start(pool.want("CD"));
      pool.commit(before, "AB", 0, 2);
      pool.commit(after, "CD", 0, 2);
      assertThat(pool.held("AB")).isZero();
      assertThat(pool.held("CD")).isEqualTo(2);
      pool.release(before, after);
      int again = pool.start(pool.want("AB"));
      pool.commit(again, "AB", 0, 2);
      assertThat(pool.held("AB")).as("the number of a lease may come again").isEqualTo(2);
    }
  }

  @Test
  void namesThatAreToTakeThePlaceOfOthersAreFoundBeforeTheDeviceSaysSo() {
    try (PoolScenario pool = new PoolScenario(createRaw(PoolScenario.shape(4, 4, 0)))) {
      pool.cache("ABCD");
      int lease = pool.start(pool.want("X"));
      assertThat(pool.extend(lease, 2).granted(0)).isTrue();
      pool.commit(lease, "XYZ", 0, 3);
      assertThat(pool.held("XYZ")).isEqualTo(3);
      pool.pool().settle();
      assertThat(pool.held("XYZ")).isEqualTo(3);
      assertThat(pool.held("ABCD")).isEqualTo(1);
    }
  }

  @Test
  void manyEventsAreHandedOutInOrder() {
    int blocks = 5000;
    PoolShape shape = new PoolShape(blocks, 1, 1, blocks, blocks);
    try (BlockPool pool = createRaw(shape)) {
      int[] tokens = IntStream.range(0, blocks).toArray();
      long[] names = LongStream.range(1, blocks + 1).map(TestHash::mix).toArray();
      LeaseBatch lease = new LeaseBatch();
      lease.add(tokens, names, CacheScope.NONE, 0, blocks, 0);
      pool.lease(lease);
      CommitBatch commit = new CommitBatch();
      commit.add(lease.lease(0), tokens, names, 0, blocks);
      pool.commit(commit);
      assertThat(PoolEvent.drain(pool))
          .extracting(PoolEvent::block)
          .isEqualTo(LongStream.of(names).boxed().toList());
    }
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void agreesWithTheNaivePoolWhenNobodyLooks(PoolShape shape) {
    try (BlockPool pool = createRaw(shape)) {
      new RandomPoolRun(pool, TestHash.STRONG, seed).run(400, 11);
    }
  }
}
