package io.kvasir.engine.device;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * The part of NVML that Kvasir uses. A port, so that it can be tested without a GPU. Thread-safe.
 * Devices are identified by their PCI bus ids, because NVML numbers them differently from the CUDA
 * driver.
 *
 * <p>Every method may throw {@link DriverCallException} with an {@code nvmlReturn_t}; {@link #init}
 * may throw {@link LinkageError} if a library is missing.
 */
public interface NvmlApi {

  /** Loads and initialises NVML. Must be called before any other method. */
  void init();

  /** {@return the NVIDIA driver's own version, for example {@code 580.65.06}} */
  String driverVersion();

  /**
   * Reads a device's counters.
   *
   * @param pciBusId the device
   * @return its state now
   */
  NvmlDevice device(String pciBusId);

  /**
   * The closest common ancestor of two devices in the machine's topology.
   *
   * @param pciBusId a device
   * @param otherPciBusId another one
   * @return for example {@code host bridge}; empty if NVML cannot determine it
   */
  Optional<String> topology(String pciBusId, String otherPciBusId);

  /**
   * Subscribes to a device's critical errors.
   *
   * @param pciBusId the device
   * @return the errors from now on; the caller closes it. Empty if the product does not report them
   */
  Optional<XidEvents> xidEvents(String pciBusId);

  /** Critical errors of one device. Confined to one thread. */
  interface XidEvents extends AutoCloseable {

    /**
     * The next error.
     *
     * @param timeoutMs how long to wait for one
     * @return its number (XID), or empty if there was none in time
     */
    OptionalLong next(int timeoutMs);

    @Override
    void close();
  }
}
