package io.kvasir.device;

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

  private static final Unavailability POOLS_NOT_BUILT =
      new Unavailability("pools in GPU memory are not built yet", "use --device cpu");

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
   * Decides where pools live. Today that is always host memory.
   *
   * @param driver asked only if a GPU may be used
   * @param module the kernels of this build, asked for likewise
   * @return why the CPU is used although a GPU would have been welcome; empty if the CPU was asked
   *     for
   * @throws DeviceUnavailableException if a GPU was asked for
   */
  public Optional<Unavailability> resolve(
      Supplier<CudaDriver> driver, Supplier<Optional<KernelModule>> module)
      throws DeviceUnavailableException {
    return switch (target) {
      case CPU -> Optional.empty();
      case AUTO -> Optional.of(obstacle(driver.get(), module.get()).orElse(POOLS_NOT_BUILT));
      case CUDA ->
          throw new DeviceUnavailableException(
              obstacle(driver.get(), module.get()).orElse(POOLS_NOT_BUILT));
    };
  }

  /** What keeps the devices from being used; one usable device is enough if none is named. */
  private Optional<Unavailability> obstacle(CudaDriver driver, Optional<KernelModule> module) {
    if (!driver.isAvailable()) {
      return driver.unavailability();
    }
    if (module.isEmpty()) {
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
    List<Optional<Unavailability>> obstacles =
        (ordinals.isEmpty()
                ? driver.devices()
                : ordinals.stream().map(driver.devices()::get).toList())
            .stream()
                .map(device -> module.get().obstacle(device, driver.version().orElseThrow()))
                .toList();
    boolean usable =
        ordinals.isEmpty()
            ? obstacles.stream().anyMatch(Optional::isEmpty)
            : obstacles.stream().allMatch(Optional::isEmpty);
    return usable ? Optional.empty() : obstacles.stream().flatMap(Optional::stream).findFirst();
  }
}
