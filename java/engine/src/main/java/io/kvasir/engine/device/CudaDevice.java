package io.kvasir.engine.device;

import java.util.Objects;

/**
 * A GPU, or a MIG instance of one, as the CUDA driver describes it. Immutable.
 *
 * @param ordinal its number in the driver, after {@code CUDA_VISIBLE_DEVICES} is applied
 * @param name the product
 * @param uuid 32 hexadecimal digits in groups
 * @param pciBusId domain, bus, device and function: {@code 0000:1A:00.0}
 * @param computeCapabilityMajor generation of the architecture
 * @param computeCapabilityMinor variant within the generation
 * @param totalBytes size of its memory
 * @param numaNode the host's memory node next to it, or -1 if unknown
 */
public record CudaDevice(
    int ordinal,
    String name,
    String uuid,
    String pciBusId,
    int computeCapabilityMajor,
    int computeCapabilityMinor,
    long totalBytes,
    int numaNode) {

  /**
   * Makes a description.
   *
   * @param ordinal at least 0
   * @param name the product
   * @param uuid hexadecimal digits
   * @param pciBusId the address on the bus
   * @param computeCapabilityMajor generation
   * @param computeCapabilityMinor variant
   * @param totalBytes bytes
   * @param numaNode a node, or -1
   */
  public CudaDevice {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(uuid, "uuid");
    Objects.requireNonNull(pciBusId, "pciBusId");
  }

  /**
   * {@return the device's description in messages, for example {@code CUDA device 0 (NVIDIA H200)}}
   */
  public String label() {
    return "CUDA device " + ordinal + " (" + name + ")";
  }

  /** {@return the architecture's name in compilers, for example {@code sm_90}} */
  public String architecture() {
    return "sm_" + computeCapabilityMajor + computeCapabilityMinor;
  }

  /**
   * Whether this is a MIG instance, a partition of a GPU. Only the device's name shows it.
   *
   * @return true for a MIG instance
   */
  public boolean isMigInstance() {
    return name.contains(" MIG ");
  }
}
