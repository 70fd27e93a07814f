package io.kvasir.engine.device;

import java.util.List;
import java.util.Optional;

/**
 * NVML of this machine, or the reason why it cannot be used. NVML is optional: without it, only its
 * own values are missing. Immutable and thread-safe; loads the library once.
 */
public final class Nvml {

  private static final class Holder {
    static final Nvml SYSTEM = probe(new JavaCppNvmlApi());
  }

  private final NvmlApi api;
  private final Optional<String> driverVersion;
  private final Optional<Unavailability> unavailability;

  private Nvml(
      NvmlApi api, Optional<String> driverVersion, Optional<Unavailability> unavailability) {
    this.api = api;
    this.driverVersion = driverVersion;
    this.unavailability = unavailability;
  }

  /**
   * This process's NVML, loaded by the first call. Never fails.
   *
   * @return NVML
   */
  public static Nvml system() {
    return Holder.SYSTEM;
  }

  /**
   * Initialises NVML if possible. Never fails.
   *
   * @param api access to NVML
   * @return NVML
   */
  public static Nvml probe(NvmlApi api) {
    try {
      api.init();
      return new Nvml(api, Optional.of(api.driverVersion()), Optional.empty());
    } catch (DriverCallException e) {
      Unavailability cause =
          new Unavailability("NVML does not start: " + e.getMessage(), CudaFailure.LOOK_AT_DRIVER);
      return new Nvml(api, Optional.empty(), Optional.of(cause));
    } catch (LinkageError e) {
      return new Nvml(api, Optional.empty(), Optional.of(CudaFailure.explain(e)));
    }
  }

  /** {@return whether NVML can be used; true if {@link #unavailability} is empty} */
  public boolean isAvailable() {
    return unavailability.isEmpty();
  }

  /** {@return why NVML cannot be used, and the remedy; empty if it can be used} */
  public Optional<Unavailability> unavailability() {
    return unavailability;
  }

  /**
   * {@return the NVIDIA driver's own version; for example {@code 580.65.06}; empty if NVML is not
   * available}
   */
  public Optional<String> driverVersion() {
    return driverVersion;
  }

  /**
   * A device's state now.
   *
   * @param device a device of the CUDA driver
   * @return its state; empty if NVML is not available or cannot read the device
   */
  public Optional<NvmlDevice> state(CudaDevice device) {
    if (!isAvailable()) {
      return Optional.empty();
    }
    try {
      return Optional.of(api.device(device.pciBusId()));
    } catch (DriverCallException e) {
      return Optional.empty();
    }
  }

  /**
   * The closest common ancestor of two devices in the machine's topology.
   *
   * @param from a device
   * @param to another device
   * @return for example {@code host bridge}; empty if unknown
   */
  public Optional<String> topology(CudaDevice from, CudaDevice to) {
    if (!isAvailable()) {
      return Optional.empty();
    }
    try {
      return api.topology(from.pciBusId(), to.pciBusId());
    } catch (DriverCallException e) {
      return Optional.empty();
    }
  }

  /**
   * Starts to watch devices for hardware errors.
   *
   * @param devices devices of the CUDA driver
   * @return the watch; the caller closes it. It reports nothing if NVML is not available
   */
  public DeviceHealth watch(List<CudaDevice> devices) {
    return DeviceHealth.polling(api, isAvailable() ? devices : List.of());
  }
}
