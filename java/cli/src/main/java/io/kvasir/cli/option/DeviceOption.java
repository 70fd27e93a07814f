package io.kvasir.cli.option;

import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.engine.device.DeviceSelection;
import io.kvasir.engine.device.DeviceUnavailableException;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.RetryableDeviceException;
import io.kvasir.model.Errors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** The devices that hold the pools of a command. */
@Heading(value = Heading.DEVICES, block = Block.EMBEDDED)
public final class DeviceOption {

  private static final Logger LOG = LoggerFactory.getLogger(DeviceOption.class);
  private static final String NAME = "--device";
  private static final String LOCAL = "cuda:local";

  @Option(
      names = NAME,
      paramLabel = "auto|cpu|cuda[:0,1|:local]",
      completionCandidates = Choices.Devices.class,
      order = 39,
      description =
          "Device of the pools; auto prefers GPUs that can be used, and cuda:local is the one with the"
              + " number of this process on its node (default: auto).")
  private @Nullable String device;

  DeviceOption() {}

  /**
   * {@return no devices}
   *
   * @param option an option that needs pools in host memory
   * @throws UsageException if GPUs are requested
   */
  public OpenDevices onlyHost(String option) {
    if (device != null && !device.equals("auto") && !device.equals("cpu")) {
      throw new UsageException(
          option,
          "needs pools in host memory; "
              + NAME
              + " must be cpu, not '"
              + Errors.shown(device)
              + "'");
    }
    return OpenDevices.NONE;
  }

  /**
   * Opens the devices of the pools. If {@code auto} selects the CPU, reports the reason: on the
   * console if the option is given or the machine has a GPU, otherwise in the log.
   *
   * @param machine the machine
   * @param console receives the reason
   * @return the devices, which the caller closes; none for pools in host memory
   * @throws UsageException if the requested devices cannot be used
   */
  public OpenDevices open(Machine machine, Console console) {
    if (LOCAL.equals(device)) {
      throw new UsageException(NAME, LOCAL + " needs " + LaunchOptions.COLLECTIVE);
    }
    return open(device, machine, console);
  }

  /**
   * Opens the device of this process, for processes that share the GPUs of a node: {@code auto}
   * means that GPU too, if there is one.
   *
   * @param localRank index of this process on its node; it wraps around at the number of GPUs
   * @param machine the machine
   * @param console receives the reason if {@code auto} selects the CPU
   * @return the device, which the caller closes; none for pools in host memory
   * @throws UsageException if the requested device cannot be used
   */
  public OpenDevices openLocal(int localRank, Machine machine, Console console) {
    boolean automatic = device == null || device.equals("auto");
    if (!LOCAL.equals(device) && !automatic) {
      return open(device, machine, console);
    }
    int count = machine.cuda().get().devices().size();
    if (count == 0) {
      return open(automatic ? device : "cuda", machine, console);
    }
    return open("cuda:" + localRank % count, machine, console);
  }

  private OpenDevices open(@Nullable String device, Machine machine, Console console) {
    DeviceSelection selection;
    try {
      selection = device == null ? DeviceSelection.AUTO : DeviceSelection.parse(device);
    } catch (IllegalArgumentException e) {
      throw new UsageException(NAME, Errors.reason(e));
    }
    DeviceSelection.Resolution resolution;
    try {
      resolution = selection.resolve(machine.cuda(), machine.module());
    } catch (DeviceUnavailableException e) {
      throw new UsageException(NAME, Errors.shown(device) + " is not possible: " + e.getMessage());
    }
    if (resolution.devices().isEmpty()) {
      resolution.fallback().ifPresent(why -> report(why.reason(), machine, console));
      return OpenDevices.NONE;
    }
    try {
      return OpenDevices.open(resolution.devices(), machine);
    } catch (RetryableDeviceException | FatalDeviceException e) {
      if (selection.target() == DeviceSelection.Target.CUDA) {
        throw new UsageException(
            NAME, Errors.shown(device) + " is not possible: " + e.getMessage());
      }
      report(Errors.reason(e), machine, console);
      return OpenDevices.NONE;
    }
  }

  private void report(String reason, Machine machine, Console console) {
    String line = NAME + " auto uses the CPU: " + reason;
    if (device != null || machine.cuda().get().isAvailable()) {
      console.note(line);
    } else {
      LOG.info(line);
    }
  }
}
