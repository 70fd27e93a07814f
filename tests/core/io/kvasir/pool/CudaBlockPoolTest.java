package io.kvasir.pool;

import io.kvasir.device.DeviceApi;
import io.kvasir.device.TestDevices;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds the pool on a device to the contract, also where it puts things off. */
@Tag("device")
class CudaBlockPoolTest extends BlockPoolContract {

  private final long seed = Long.getLong("kvasir.test.seed", System.nanoTime());
  private final Deque<DeviceApi> devices = new ArrayDeque<>();

  @Override
  public BlockPool create(PoolShape shape) {
    return new SettledBlockPool(createRaw(shape));
  }

  private CudaBlockPool createRaw(PoolShape shape) {
    devices.push(TestDevices.open(seed + devices.size()));
    return CudaBlockPool.create(devices.peek(), shape, 0);
  }

  /** A device says if memory, a stream or an event was not given back. */
  @AfterEach
  void leaveDevices() {
    devices.forEach(DeviceApi::close);
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void agreesWithTheNaivePoolWhenNobodyLooks(PoolShape shape) {
    try (BlockPool pool = createRaw(shape)) {
      new RandomPoolRun(pool, TestHash.STRONG, seed).run(400, 11);
    }
  }
}
