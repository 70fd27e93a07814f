package io.kvasir.engine.device;

import java.util.Objects;
import java.util.Optional;

/**
 * Devices for tests: kernels on the CPU, or, with {@code -Dkvasir.test.device=cuda}, on the
 * machine's first GPU.
 */
public final class TestDevices {

  private static final long BYTES = 1L << 30;

  private TestDevices() {}

  /** Whether tests run on a GPU. */
  public static boolean onGpu() {
    return System.getProperty("kvasir.test.device", "shim").equals("cuda");
  }

  /** A device with the kernels of this build. */
  public static DeviceApi open() {
    return open(0);
  }

  /**
   * A device with the kernels of this build.
   *
   * @param seed of what a device leaves open: when work is done, how threads interleave
   */
  public static DeviceApi open(long seed) {
    if (!onGpu()) {
      ShimLibrary.seed(seed);
      return ShimDevice.of(BYTES, seed);
    }
    Objects.requireNonNull(Held.DEVICE);
    return openGpu();
  }

  private static DeviceApi openGpu() {
    CudaDriver driver = CudaDriver.system();
    Optional<Unavailability> none = driver.unavailability();
    if (none.isPresent()) {
      throw new AssertionError(none.get().reason());
    }
    return driver.open(driver.devices().get(0), KernelModule.embedded().orElseThrow());
  }

  /** Keeps the GPU's context for the process: the last close of a device would destroy it. */
  private static final class Held {
    static final DeviceApi DEVICE = openGpu();
  }
}
