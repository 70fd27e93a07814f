package io.kvasir.engine.device;

/**
 * What Kvasir asks of the CUDA driver to know its devices and to begin to use one: a port, so that
 * drivers that fail can be tested without one. Thread-safe.
 *
 * <p>Every method may throw {@link DriverCallException} with a {@code CUresult}; the first one
 * called may throw {@link LinkageError} if the binding or the driver is not there.
 */
public interface CudaApi {

  /**
   * The newest CUDA version that the driver supports. Needs no {@link #init}.
   *
   * @return 1000 x major + 10 x minor
   */
  int driverVersion();

  /** Initialises the driver; repeating it does nothing. May take a second on a large machine. */
  void init();

  /**
   * How many devices are visible.
   *
   * @return at least 0
   */
  int deviceCount();

  /**
   * Describes a device. Creates no context.
   *
   * @param ordinal from 0 to the count, exclusive
   * @return the device
   */
  CudaDevice device(int ordinal);

  /**
   * Memory that is free now. Creates the device's primary context if there is none, for the time of
   * the call, which costs some hundred milliseconds and megabytes.
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
   * Begins to use a device.
   *
   * @param device one of its devices
   * @return the device in use; the caller closes it
   * @throws RetryableDeviceException if the device refuses for now
   * @throws FatalDeviceException if it cannot be used
   */
  DeviceApi open(CudaDevice device);
}
