package io.kvasir.engine.device;

import io.kvasir.internal.nativelib.PoolLibrary;
import java.util.concurrent.TimeUnit;

/** The device of {@link io.kvasir.testing.device.FakeDriver}, inside a process that finds it. */
public final class FakeDriverDevice {

  private FakeDriverDevice() {}

  /** Opens the device, whose work may take a minute. */
  public static DeviceApi open() {
    return open(TimeUnit.MINUTES.toNanos(1));
  }

  /**
   * Opens the device. Any bytes do for a module.
   *
   * @param responseNs how long its work may take
   */
  public static DeviceApi open(long responseNs) {
    CudaDriver driver = CudaDriver.system();
    driver
        .unavailability()
        .ifPresent(
            cause -> {
              throw new AssertionError(cause.reason());
            });
    DeviceApi device = new JCudaDeviceApi(driver.devices().get(0), responseNs);
    device.loadModule(new byte[] {1, 2, 3, 4});
    KernelModule.requireAbi(device, PoolLibrary.kvasir_abi_version());
    return device;
  }
}
