package io.kvasir.engine.device;

import io.kvasir.model.Errors;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The user's choice of the memory for pools: {@code auto}, {@code cpu}, {@code cuda} or {@code
 * cuda:0,1}. Immutable.
 *
 * @param target the requested kind of memory
 * @param ordinals the requested CUDA devices, in order; empty for all devices
 */
public record DeviceSelection(Target target, List<Integer> ordinals) {

  /** The memory that pools use. */
  public enum Target {
    /** GPU memory if possible, else host memory. */
    AUTO,
    /** Host memory. */
    CPU,
    /** GPU memory. */
    CUDA
  }

  /** The selection {@code auto}. */
  public static final DeviceSelection AUTO = new DeviceSelection(Target.AUTO, List.of());

  private static final Pattern CUDA = Pattern.compile("cuda(?::(\\d{1,4}(?:,\\d{1,4})*))?");

  /**
   * Makes a selection.
   *
   * @param target the requested kind of memory
   * @param ordinals copied
   */
  public DeviceSelection {
    ordinals = List.copyOf(ordinals);
  }

  /**
   * Parses a selection.
   *
   * @param text {@code auto}, {@code cpu}, {@code cuda} or {@code cuda:0,1,...}
   * @return the selection
   * @throws IllegalArgumentException if the text is invalid or lists a device twice; the message
   *     begins with "must be"
   */
  public static DeviceSelection parse(String text) {
    String word = text.strip();
    if (word.equals("auto")) {
      return AUTO;
    }
    if (word.equals("cpu")) {
      return new DeviceSelection(Target.CPU, List.of());
    }
    var cuda = CUDA.matcher(word);
    if (cuda.matches()) {
      List<Integer> ordinals =
          cuda.group(1) == null
              ? List.of()
              : Stream.of(cuda.group(1).split(",", -1)).map(Integer::valueOf).toList();
      if (ordinals.stream().distinct().count() == ordinals.size()) {
        return new DeviceSelection(Target.CUDA, ordinals);
      }
    }
    throw new IllegalArgumentException(
        "must be auto, cpu, cuda or cuda:0,1,... with each device once, not '"
            + Errors.shown(text)
            + "'");
  }

  /**
   * The memory that pools will use. Immutable.
   *
   * @param devices the devices that the ranks share, in order; empty for host memory
   * @param fallback why {@code auto} uses the CPU; empty otherwise
   */
  public record Resolution(List<CudaDevice> devices, Optional<Unavailability> fallback) {

    /**
     * Makes a resolution.
     *
     * @param devices copied
     * @param fallback the reason
     */
    public Resolution {
      devices = List.copyOf(devices);
    }
  }

  /**
   * Resolves this selection.
   *
   * @param driver the CUDA driver; called only if a GPU may be used
   * @param module the kernels of this build; called only if a GPU may be used
   * @return the requested devices; or all that can run the kernels; or none, with the reason
   * @throws DeviceUnavailableException if a GPU was requested and cannot be used
   */
  public Resolution resolve(Supplier<CudaDriver> driver, Supplier<Optional<KernelModule>> module)
      throws DeviceUnavailableException {
    if (target == Target.CPU) {
      return new Resolution(List.of(), Optional.empty());
    }
    Optional<Unavailability> obstacle = obstacle(driver.get(), module);
    if (obstacle.isEmpty()) {
      return new Resolution(usable(driver.get(), module.get().orElseThrow()), obstacle);
    }
    if (target == Target.CUDA) {
      throw new DeviceUnavailableException(obstacle.get());
    }
    return new Resolution(List.of(), obstacle);
  }

  /** Why the devices cannot be used. If no device is requested, one usable device is enough. */
  private Optional<Unavailability> obstacle(
      CudaDriver driver, Supplier<Optional<KernelModule>> module) {
    if (!driver.isAvailable()) {
      return driver.unavailability();
    }
    Optional<KernelModule> kernels = module.get();
    if (kernels.isEmpty()) {
      return Optional.of(KernelModule.ABSENT);
    }
    int count = driver.devices().size();
    for (int ordinal : ordinals) {
      if (ordinal >= count) {
        return Optional.of(
            new Unavailability(
                "there is no CUDA device " + ordinal,
                count == 1 ? "the only device is 0" : "devices are 0 to " + (count - 1)));
      }
    }
    boolean enough =
        ordinals.isEmpty()
            ? !usable(driver, kernels.get()).isEmpty()
            : usable(driver, kernels.get()).size() == ordinals.size();
    return enough
        ? Optional.empty()
        : wanted(driver).stream()
            .flatMap(device -> obstacle(driver, kernels.get(), device).stream())
            .findFirst();
  }

  private List<CudaDevice> usable(CudaDriver driver, KernelModule module) {
    return wanted(driver).stream()
        .filter(device -> obstacle(driver, module, device).isEmpty())
        .toList();
  }

  private List<CudaDevice> wanted(CudaDriver driver) {
    return ordinals.isEmpty()
        ? driver.devices()
        : ordinals.stream().map(driver.devices()::get).toList();
  }

  private static Optional<Unavailability> obstacle(
      CudaDriver driver, KernelModule module, CudaDevice device) {
    return module.obstacle(device, driver.version().orElseThrow());
  }
}
