package io.kvasir.cli.command;

import io.kvasir.cli.terminal.Machine;
import io.kvasir.engine.device.CudaDevice;
import io.kvasir.engine.device.CudaDriver;
import io.kvasir.engine.device.DeviceSelection;
import io.kvasir.engine.device.DeviceUnavailableException;
import io.kvasir.engine.device.KernelModule;
import io.kvasir.engine.device.NativeLibrary;
import io.kvasir.engine.device.Nvml;
import io.kvasir.engine.device.NvmlDevice;
import io.kvasir.engine.device.Unavailability;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Properties;

/**
 * The findings of {@code kvasir doctor}. Immutable.
 *
 * @param kvasir version of this build
 * @param java properties of the running Java
 * @param library the native library
 * @param module the GPU kernels
 * @param cudaVersion CUDA version that the driver supports
 * @param cudaFailure the reason if there is no device
 * @param devices the devices, by ordinal
 * @param nvmlDriverVersion version of the NVIDIA driver
 * @param nvmlFailure the reason if NVML cannot be used
 * @param variables values of the variables that select devices, by name; null if unset
 * @param auto the devices that {@code --device auto} uses, or the reason if it uses the CPU
 */
public record Diagnosis(
    String kvasir,
    Properties java,
    NativeLibrary library,
    Optional<KernelModule> module,
    OptionalInt cudaVersion,
    Optional<Unavailability> cudaFailure,
    List<Device> devices,
    Optional<String> nvmlDriverVersion,
    Optional<Unavailability> nvmlFailure,
    Map<String, String> variables,
    DeviceSelection.Resolution auto) {

  private static final List<String> VARIABLES =
      List.of("CUDA_VISIBLE_DEVICES", "CUDA_MPS_PIPE_DIRECTORY");

  /**
   * A device.
   *
   * @param cuda its properties according to the driver
   * @param freeBytes its free memory, if the driver reports it
   * @param nvml its counters, if NVML reports them
   * @param obstacle the reason if the kernels do not run on it
   * @param peers the devices whose memory it can access
   */
  record Device(
      CudaDevice cuda,
      OptionalLong freeBytes,
      Optional<NvmlDevice> nvml,
      Optional<Unavailability> obstacle,
      List<Peer> peers) {}

  /**
   * A device that another device can access.
   *
   * @param ordinal its number
   * @param topology the link between the two devices, if known
   */
  record Peer(int ordinal, Optional<String> topology) {}

  /**
   * Examines a machine.
   *
   * @param kvasir version of this build
   * @param machine the machine
   * @param environment the environment's variables
   * @return the findings
   */
  public static Diagnosis of(String kvasir, Machine machine, Map<String, String> environment) {
    // First, so that a failure to load it is not reported as one of what needs it.
    NativeLibrary library = machine.library().get();
    CudaDriver driver = machine.cuda().get();
    Nvml nvml = machine.nvml().get();
    Optional<KernelModule> module = machine.module().get();
    Map<String, String> variables = new LinkedHashMap<>();
    VARIABLES.forEach(name -> variables.put(name, environment.get(name)));
    return new Diagnosis(
        kvasir,
        machine.java(),
        library,
        module,
        driver.version(),
        driver.unavailability(),
        driver.devices().stream().map(device -> examine(device, driver, nvml, module)).toList(),
        nvml.driverVersion(),
        nvml.unavailability(),
        variables,
        auto(driver, module));
  }

  /** {@return whether Kvasir can run on this machine, and where} */
  String verdict() {
    if (library.unavailability().isPresent()) {
      return "Kvasir cannot run here: " + library.unavailability().get().reason();
    }
    int gpus = auto.devices().size();
    return "Kvasir can run here, on "
        + (gpus == 0 ? "the CPU" : gpus == 1 ? "1 GPU" : gpus + " GPUs");
  }

  private static Device examine(
      CudaDevice device, CudaDriver driver, Nvml nvml, Optional<KernelModule> module) {
    List<Peer> peers =
        driver.peers(device).stream()
            .map(peer -> new Peer(peer.ordinal(), nvml.topology(device, peer)))
            .toList();
    return new Device(
        device,
        driver.freeBytes(device),
        nvml.state(device),
        module.flatMap(kernels -> kernels.obstacle(device, driver.version().orElseThrow())),
        peers);
  }

  private static DeviceSelection.Resolution auto(CudaDriver driver, Optional<KernelModule> module) {
    try {
      return DeviceSelection.AUTO.resolve(() -> driver, () -> module);
    } catch (DeviceUnavailableException e) {
      throw new IllegalStateException("auto never requires a GPU", e);
    }
  }
}
