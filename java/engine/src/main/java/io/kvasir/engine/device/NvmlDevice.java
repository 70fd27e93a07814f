package io.kvasir.engine.device;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * State of a GPU from NVML. Values that the product does not report are empty. Immutable.
 *
 * @param utilizationPercent share of the last sample period in which a kernel ran
 * @param uncorrectedEccErrors uncorrectable memory errors since the driver was loaded
 * @param rowRemapping the problem with remapping faulty memory rows; empty if there is none
 * @param migEnabled whether the GPU is partitioned
 */
public record NvmlDevice(
    OptionalInt utilizationPercent,
    OptionalLong uncorrectedEccErrors,
    Optional<String> rowRemapping,
    Optional<Boolean> migEnabled) {

  /**
   * Makes a state.
   *
   * @param utilizationPercent 0 to 100
   * @param uncorrectedEccErrors a count
   * @param rowRemapping a problem
   * @param migEnabled the mode
   */
  public NvmlDevice {
    Objects.requireNonNull(utilizationPercent, "utilizationPercent");
    Objects.requireNonNull(uncorrectedEccErrors, "uncorrectedEccErrors");
    Objects.requireNonNull(rowRemapping, "rowRemapping");
    Objects.requireNonNull(migEnabled, "migEnabled");
  }
}
