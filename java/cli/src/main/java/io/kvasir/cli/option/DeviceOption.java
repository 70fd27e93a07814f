package io.kvasir.cli.option;

import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.engine.device.DeviceSelection;
import io.kvasir.engine.device.DeviceUnavailableException;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.RetryableDeviceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** Where the pools of a command live. */
public final class DeviceOption {

  private static final Logger LOG = LoggerFactory.getLogger(DeviceOption.class);
  private static final String NAME = "--device";

  @Option(
      names = NAME,
      paramLabel = "auto|cpu|cuda[:0,1]",
      order = 39,
      description = "Where pools live: auto takes GPUs that can be used (default: auto).")
  private String device;

  /** For what only works with pools in host memory. */
  public OpenDevices onlyHost(String option) {
    if (device != null && !device.equals("auto") && !device.equals("cpu")) {
      throw new UsageException(
          option, "needs pools in host memory; " + NAME + " must be cpu, not '" + device + "'");
    }
    return OpenDevices.NONE;
  }

  /**
   * Begins to use the devices that pools shall live on. If {@code auto} was asked for in vain, says
   * why: to the user if that was said in so many words or if a GPU stays idle, else to the log.
   */
  public OpenDevices open(Machine machine, Console console) {
    DeviceSelection selection;
    try {
      selection = device == null ? DeviceSelection.AUTO : DeviceSelection.parse(device);
    } catch (IllegalArgumentException e) {
      throw new UsageException(NAME, e.getMessage());
    }
    DeviceSelection.Resolution resolution;
    try {
      resolution = selection.resolve(machine.cuda(), machine.module());
    } catch (DeviceUnavailableException e) {
      throw new UsageException(NAME, device + " is not possible: " + e.getMessage());
    }
    if (resolution.devices().isEmpty()) {
      resolution.fallback().ifPresent(why -> tell(why.reason(), machine, console));
      return OpenDevices.NONE;
    }
    try {
      return OpenDevices.open(resolution.devices(), machine);
    } catch (RetryableDeviceException | FatalDeviceException e) {
      if (selection.target() == DeviceSelection.Target.CUDA) {
        throw new UsageException(NAME, device + " is not possible: " + e.getMessage());
      }
      tell(e.getMessage(), machine, console);
      return OpenDevices.NONE;
    }
  }

  private void tell(String reason, Machine machine, Console console) {
    String line = NAME + " auto uses the CPU: " + reason;
    if (device != null || machine.cuda().get().isAvailable()) {
      console.note(line);
    } else {
      LOG.info(line);
    }
  }
}
