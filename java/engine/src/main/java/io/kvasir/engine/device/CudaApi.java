package io.kvasir.engine.device;

/**
 * The part of the CUDA driver that lists and opens devices. A port, so that driver failures can be
 * tested without a driver. Thread-safe.
 *
 * <p>Every method may throw {@link DriverCallException} with a {@code CUresult}; the first call may
 * throw {@link LinkageError} if the binding or the driver is missing.
 */
public interface CudaApi {

  /**
   * The newest CUDA version that the driver supports. Needs no {@link #init}.
   *
   * @return 1000 x major + 10 x minor
   */
  int driverVersion();

  /** Initialises the driver. Idempotent. May take a second on a large machine. */
  void init();

  /** {@return the number of visible devices, at least 0} */
  int deviceCount();

  /**
   * Describes a device. Creates no context.
   *
   * @param ordinal from 0 to the count, exclusive
   * @return the device
   */
  CudaDevice device(int ordinal);

  /**
   * Memory that is free now. If the device has no primary context, one is created for the duration
   * of the call, which costs some hundred milliseconds and megabytes.
   *
   * @param ordinal the device
   * @return bytes
   */
  long freeBytes(int ordinal);

  /**
   * Whether one device can address another's memory.
   *
   * @param from the device that reads and writes
   * @param to the device that holds the memory
   * @return true if the link between them allows it
   */
  boolean canAccessPeer(int from, int to);

  /**
   * Opens a device.
   *
   * @param device a device that {@link #device} returned
   * @return the open device; the caller closes it
   * @throws RetryableDeviceException if the device refuses but may accept later
   * @throws FatalDeviceException if it cannot be used
   */
  DeviceApi open(CudaDevice device);
}
