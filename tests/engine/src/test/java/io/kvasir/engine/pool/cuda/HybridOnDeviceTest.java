package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.TestDevices;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.HybridRandomTest;
import io.kvasir.engine.pool.PoolShape;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** Groups of a hybrid model around a pool on a device, which defers commits and releases. */
@Tag("device")
class HybridOnDeviceTest extends HybridRandomTest {

  private final Deque<DeviceApi> devices = new ArrayDeque<>();

  @Override
  protected BlockPool full(PoolShape shape) {
    devices.push(TestDevices.open(devices.size()));
    return CudaBlockPool.create(devices.peek(), shape, 0);
  }

  @AfterEach
  void closeDevices() {
    devices.forEach(DeviceApi::close);
  }
}
