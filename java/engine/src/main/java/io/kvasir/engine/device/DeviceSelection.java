package io.kvasir.engine.device;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Where a user wants pools to live: {@code auto}, {@code cpu}, {@code cuda} or {@code cuda:0,1}.
 * Immutable.
 *
 * @param target what was asked for
 * @param ordinals the CUDA devices named, in order; empty for all of them
 */
public record DeviceSelection(Target target, List<Integer> ordinals) {

  /** What pools may live in. */
  public enum Target {
    /** GPU memory if that is possible, else host memory. */
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
   * @param target what was asked for
   * @param ordinals copied
   */
  public DeviceSelection {
    ordinals = List.copyOf(ordinals);
  }

  /**
   * Reads a selection.
   *
   * @param text {@code auto}, {@code cpu}, {@code cuda} or {@code cuda:0,1,...}
   * @return the selection
   * @throws IllegalArgumentException if it is none of them or names a device twice; the message
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
        "must be auto, cpu, cuda or cuda:0,1,... with each device once, not '" + text + "'");
  }

  /**
   * Where pools live. Immutable.
   *
   * @param devices the devices that their ranks share, in order; empty for host memory
   * @param fallback why the CPU is used although a GPU would have been welcome; empty otherwise
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
   * Decides where pools live.
   *
   * @param driver asked only if a GPU may be used
   * @param module the kernels of this build, asked for likewise
   * @return the devices named, or all that can run the kernels, or none and the reason
   * @throws DeviceUnavailableException if a GPU was asked for and is not to be had
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

  /** What keeps the devices from being used; one usable device is enough if none is named. */
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
