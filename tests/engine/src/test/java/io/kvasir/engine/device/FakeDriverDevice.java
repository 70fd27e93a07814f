package io.kvasir.engine.device;

import io.kvasir.internal.nativelib.PoolLibrary;

/** The device of {@link io.kvasir.testing.device.FakeDriver}, inside a process that finds it. */
public final class FakeDriverDevice {

  private FakeDriverDevice() {}

  /** Opens the device. Any bytes do for a module. */
  public static DeviceApi open() {
    CudaDriver driver = CudaDriver.system();
    driver
        .unavailability()
        .ifPresent(
            cause -> {
              throw new AssertionError(cause.reason());
            });
    DeviceApi device = new JCudaApi().open(driver.devices().get(0));
    device.loadModule(new byte[] {1, 2, 3, 4});
    KernelModule.requireAbi(device, PoolLibrary.kvasir_abi_version());
    return device;
  }
}
