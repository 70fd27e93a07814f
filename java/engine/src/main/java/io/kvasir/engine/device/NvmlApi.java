package io.kvasir.engine.device;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * What Kvasir asks of NVML: a port, so that it can be tested without a GPU. Thread-safe. Devices
 * are named by their PCI bus ids, because NVML numbers them differently from the CUDA driver.
 *
 * <p>Every method may throw {@link DriverCallException} with an {@code nvmlReturn_t}; {@link #init}
 * may throw {@link LinkageError} if a library is not there.
 */
public interface NvmlApi {

  /** Loads and initialises NVML. Called before anything else. */
  void init();

  /**
   * The NVIDIA driver's own version.
   *
   * @return for example {@code 580.65.06}
   */
  String driverVersion();

  /**
   * Reads a device's counters.
   *
   * @param pciBusId the device
   * @return its state now
   */
  NvmlDevice device(String pciBusId);

  /**
   * What two devices have in common on the way to each other.
   *
   * @param pciBusId a device
   * @param otherPciBusId another one
   * @return for example {@code host bridge}, or empty where NVML does not know
   */
  Optional<String> topology(String pciBusId, String otherPciBusId);

  /**
   * Begins to listen to a device's critical errors.
   *
   * @param pciBusId the device
   * @return the errors from now on; the caller closes it. Empty where the product does not tell
   */
  Optional<XidEvents> xidEvents(String pciBusId);

  /** Critical errors of one device. Confined to one thread. */
  interface XidEvents extends AutoCloseable {

    /**
     * The next error.
     *
     * @param timeoutMs how long to wait for one
     * @return its number (XID), or empty if there was none
     */
    OptionalLong next(int timeoutMs);

    @Override
    void close();
  }
}
