package io.kvasir.engine.device;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * The CUDA driver of this machine and its devices, or the reason why there are none. Immutable and
 * thread-safe. The driver is probed once, at construction.
 */
public final class CudaDriver {

  private static final class Holder {
    static final CudaDriver SYSTEM = probe(new JCudaApi(), System.getenv());
  }

  private final CudaApi api;
  private final OptionalInt version;
  private final List<CudaDevice> devices;
  private final Optional<Unavailability> unavailability;

  private CudaDriver(
      CudaApi api,
      OptionalInt version,
      List<CudaDevice> devices,
      Optional<Unavailability> unavailability) {
    this.api = api;
    this.version = version;
    this.devices = devices;
    this.unavailability = unavailability;
  }

  /**
   * This process's driver, probed by the first call. Never fails.
   *
   * @return the driver
   */
  public static CudaDriver system() {
    return Holder.SYSTEM;
  }

  /**
   * Probes a driver. Never fails.
   *
   * @param api access to the driver
   * @param environment the process's environment variables, which may hide devices
   * @return the driver, available if it has at least one device
   */
  public static CudaDriver probe(CudaApi api, Map<String, String> environment) {
    OptionalInt version = OptionalInt.empty();
    try {
      version = OptionalInt.of(api.driverVersion());
      api.init();
      List<CudaDevice> devices =
          IntStream.range(0, api.deviceCount()).mapToObj(api::device).toList();
      Optional<Unavailability> none =
          devices.isEmpty()
              ? Optional.of(CudaFailure.noDevice("CUDA_ERROR_NO_DEVICE", environment))
              : Optional.empty();
      return new CudaDriver(api, version, devices, none);
    } catch (DriverCallException e) {
      return new CudaDriver(
          api, version, List.of(), Optional.of(CudaFailure.explain(e, environment)));
    } catch (LinkageError e) {
      return new CudaDriver(api, version, List.of(), Optional.of(CudaFailure.explain(e)));
    }
  }

  /**
   * {@return whether there is a driver with at least one device; true if {@link #unavailability} is
   * empty}
   */
  public boolean isAvailable() {
    return unavailability.isEmpty();
  }

  /** {@return why there is no device, and the remedy; empty if there is one} */
  public Optional<Unavailability> unavailability() {
    return unavailability;
  }

  /**
   * {@return the newest CUDA version that the driver supports, as 1000 x major + 10 x minor; empty
   * if the driver could not be probed}
   */
  public OptionalInt version() {
    return version;
  }

  /** {@return the visible devices, by ordinal; empty if the driver is not available} */
  public List<CudaDevice> devices() {
    return devices;
  }

  /**
   * Opens a device and loads this build's kernels. Takes some hundred milliseconds.
   *
   * @param device one of {@link #devices}
   * @param module the kernels; must have no {@link KernelModule#obstacle} to the device
   * @return the open device; the caller closes it
   * @throws RetryableDeviceException if the device refuses but may accept later
   * @throws FatalDeviceException if it cannot be used
   */
  public DeviceApi open(CudaDevice device, KernelModule module) {
    DeviceApi opened = api.open(device);
    try {
      module.loadOnto(opened, version.orElseThrow());
      return opened;
    } catch (RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  /**
   * Memory that is free on a device now. Slow if the process has no context on the device yet; see
   * {@link CudaApi#freeBytes}.
   *
   * @param device one of {@link #devices}
   * @return bytes, or empty if the driver returns an error, for example because another process
   *     uses the device exclusively
   */
  public OptionalLong freeBytes(CudaDevice device) {
    try {
      return OptionalLong.of(api.freeBytes(device.ordinal()));
    } catch (DriverCallException e) {
      return OptionalLong.empty();
    }
  }

  /**
   * The devices whose memory a device can address.
   *
   * @param device one of {@link #devices}
   * @return the other devices that it can access, by ordinal
   */
  public List<CudaDevice> peers(CudaDevice device) {
    return devices.stream()
        .filter(other -> other.ordinal() != device.ordinal() && reaches(device, other))
        .toList();
  }

  private boolean reaches(CudaDevice from, CudaDevice to) {
    try {
      return api.canAccessPeer(from.ordinal(), to.ordinal());
    } catch (DriverCallException e) {
      return false;
    }
  }
}
