package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.pool.PoolShape;
import org.junit.jupiter.api.Tag;

/** The same where every submission is too large for one launch. */
@Tag("device")
class CudaBlockPoolInPhasesTest extends CudaBlockPoolTest {

  static final int NO_BLOCKS = -1;

  @Override
  CudaBlockPool create(DeviceApi device, PoolShape shape) {
    return CudaBlockPool.of(PoolOnDevice.create(device, shape, 0, 1 << 20, NO_BLOCKS));
  }
}
