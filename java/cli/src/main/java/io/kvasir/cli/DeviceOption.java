package io.kvasir.cli;

import io.kvasir.device.DeviceSelection;
import io.kvasir.device.DeviceUnavailableException;
import io.kvasir.device.Unavailability;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** Where the pools of a command live. */
final class DeviceOption {

  private static final Logger LOG = LoggerFactory.getLogger(DeviceOption.class);
  private static final String NAME = "--device";

  @Option(
      names = NAME,
      paramLabel = "auto|cpu|cuda[:0,1]",
      order = 39,
      description = "Where pools live: auto takes GPUs that can be used (default: auto).")
  private String device;

  /**
   * Checks that the pools can live where they should. If {@code auto} was asked for in vain, says
   * why: to the user if that was said in so many words or if a GPU stays idle, else to the log.
   */
  void resolve(Machine machine, Console console) {
    DeviceSelection selection;
    try {
      selection = device == null ? DeviceSelection.AUTO : DeviceSelection.parse(device);
    } catch (IllegalArgumentException e) {
      throw new UsageException(NAME, e.getMessage());
    }
    Optional<Unavailability> fallback;
    try {
      fallback = selection.resolve(machine.cuda(), machine.module());
    } catch (DeviceUnavailableException e) {
      throw new UsageException(NAME, device + " is not possible: " + e.getMessage());
    }
    if (fallback.isPresent()) {
      String line = NAME + " auto uses the CPU: " + fallback.get().reason();
      if (device != null || machine.cuda().get().isAvailable()) {
        console.note(line);
      } else {
        LOG.info(line);
      }
    }
  }
}
