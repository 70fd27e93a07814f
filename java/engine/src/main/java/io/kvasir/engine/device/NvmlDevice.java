package io.kvasir.engine.device;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * State of a GPU as NVML reads it; what the product does not report is empty. Immutable.
 *
 * @param utilizationPercent share of the last sample period in which a kernel ran
 * @param uncorrectedEccErrors memory errors since the driver was loaded that could not be corrected
 * @param rowRemapping what is wrong with replacing broken rows of memory; empty if nothing is
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
   * @param rowRemapping a complaint
   * @param migEnabled the mode
   */
  public NvmlDevice {
    Objects.requireNonNull(utilizationPercent, "utilizationPercent");
    Objects.requireNonNull(uncorrectedEccErrors, "uncorrectedEccErrors");
    Objects.requireNonNull(rowRemapping, "rowRemapping");
    Objects.requireNonNull(migEnabled, "migEnabled");
  }
}
