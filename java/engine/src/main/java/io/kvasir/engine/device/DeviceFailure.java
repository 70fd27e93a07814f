package io.kvasir.engine.device;

import java.util.Set;

/** Translates a failed driver call into an exception. Codes are those of the CUDA driver API. */
final class DeviceFailure {

  private static final int OUT_OF_MEMORY = 2;
  private static final int INVALID_PTX = 218;
  private static final int NO_BINARY = 209;
  private static final int UNSUPPORTED_PTX = 222;
  private static final int NOT_READY = 600;
  private static final int LAUNCH_OUT_OF_RESOURCES = 701;

  private static final Set<Integer> RETRYABLE =
      Set.of(OUT_OF_MEMORY, NOT_READY, LAUNCH_OUT_OF_RESOURCES);

  private static final Set<Integer> WRONG_MODULE = Set.of(INVALID_PTX, NO_BINARY, UNSUPPORTED_PTX);

  /** Sticky errors of the context, and lost devices. */
  private static final Set<Integer> LOST =
      Set.of(
          3, 4, 46, 100, 101, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719,
          999);

  private DeviceFailure() {}

  static RuntimeException of(CudaDevice device, DriverCallException e) {
    if (RETRYABLE.contains(e.code())) {
      return new RetryableDeviceException(device.label() + " refused: " + e.getMessage(), e);
    }
    if (WRONG_MODULE.contains(e.code())) {
      return new FatalDeviceException(
          device.label()
              + ", "
              + device.architecture()
              + ", cannot run this build's kernels: "
              + e.getMessage()
              + "; update the NVIDIA driver or build for this architecture",
          e);
    }
    String what = LOST.contains(e.code()) ? " is lost: " : " failed: ";
    return new FatalDeviceException(device.label() + what + e.getMessage(), e);
  }

  static DeviceOutOfMemoryException outOfMemory(
      CudaDevice device, long wantedBytes, long freeBytes, DriverCallException e) {
    return new DeviceOutOfMemoryException(device.label(), wantedBytes, freeBytes, e);
  }

  /** The host has too little memory to page-lock. The driver does not report how much is left. */
  static DeviceOutOfMemoryException outOfPinnedMemory(long wantedBytes, DriverCallException e) {
    return new DeviceOutOfMemoryException("the host (page-locked)", wantedBytes, -1, e);
  }
}
