package io.kvasir.engine.device;

import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.internal.nativelib.PoolLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Properties;

/**
 * The GPU kernels of this build. Immutable.
 *
 * @param bytes size of the module
 * @param architectures machine code ({@code sm_90}) and PTX ({@code compute_120}) inside
 * @param cudaVersion version of the compiler, for example {@code 13.0}
 * @param abi version of the interface between Java, the library and the module
 * @param ptxArchitecture of the PTX for drivers that are older than the compiler, for example
 *     {@code compute_80}
 */
public record KernelModule(
    long bytes, List<String> architectures, String cudaVersion, int abi, String ptxArchitecture) {

  /** The oldest driver that takes the PTX, whose version is 7.0: 1000 x major + 10 x minor. */
  public static final int OLDEST_DRIVER = 11000;

  /** The reason and the remedy for a build without kernels. */
  public static final Unavailability ABSENT =
      new Unavailability(
          "this build has no GPU kernels: nvcc was missing when it was built",
          "install the CUDA toolkit and build again");

  private static final String MACHINE_CODE = "sm_";

  /** Device code, which does not depend on the host's architecture. */
  private static final String RESOURCE = "kvasir.fatbin";

  /** PTX as text, which drivers of earlier major versions than the compiler's take. */
  private static final String PTX_RESOURCE = "kvasir.ptx";

  private static final String PTX = "compute_";
  private static final int WARP = 32;

  /**
   * Makes a description.
   *
   * @param bytes more than 0
   * @param architectures copied
   * @param cudaVersion major and minor version
   * @param abi a version
   * @param ptxArchitecture an architecture of PTX
   */
  public KernelModule {
    architectures = List.copyOf(architectures);
  }

  /** {@return the module of this build; empty if it was built without a CUDA compiler} */
  public static Optional<KernelModule> embedded() {
    try (InputStream module = KernelModule.class.getResourceAsStream(RESOURCE);
        InputStream inside = KernelModule.class.getResourceAsStream(RESOURCE + ".properties")) {
      if (module == null || inside == null) {
        return Optional.empty();
      }
      Properties properties = new Properties();
      properties.load(inside);
      return Optional.of(
          new KernelModule(
              module.transferTo(OutputStream.nullOutputStream()),
              List.of(properties.getProperty("architectures").split(" ")),
              properties.getProperty("cudaVersion"),
              Integer.parseInt(properties.getProperty("abi")),
              properties.getProperty("ptxArchitecture")));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the embedded kernel module", e);
    }
  }

  /**
   * Loads this build's kernels onto a device and checks their version. An older driver compiles
   * them, which takes seconds the first time; it keeps the result.
   *
   * @param device a device without kernels
   * @param driverVersion 1000 x major + 10 x minor
   * @throws FatalDeviceException if the device cannot run them, or their version is wrong
   */
  void loadOnto(DeviceApi device, int driverVersion) {
    boolean older = isOlder(driverVersion);
    String resource = older ? PTX_RESOURCE : RESOURCE;
    try (InputStream module = KernelModule.class.getResourceAsStream(resource)) {
      if (module == null) {
        throw new IllegalStateException(ABSENT.reason());
      }
      byte[] image = module.readAllBytes();
      // PTX is a text with a zero byte at its end.
      device.loadModule(older ? Arrays.copyOf(image, image.length + 1) : image);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the embedded kernel module", e);
    }
    requireAbi(device, PoolLibrary.kvasir_abi_version());
  }

  /** Runs the kernel that returns the loaded module's version, and checks it. */
  static void requireAbi(DeviceApi device, int expected) {
    long word = device.allocatePinned(Integer.BYTES);
    DeviceApi.Stream stream;
    try {
      stream = device.openStream(false);
    } catch (RuntimeException e) {
      ReleaseSteps.after(e, List.of(() -> device.freePinned(word)));
      throw e;
    }
    int abi;
    try {
      KernelArguments arguments = KernelArguments.words(1).set(0, word);
      device.launch(stream, device.kernel("kvasir_module_abi"), 1, WARP, arguments);
      device.synchronize(stream);
      abi = NativeMemory.view(word, Integer.BYTES).getInt(0);
    } finally {
      ReleaseSteps.onceIdle(
          device, stream, List.of(() -> device.closeStream(stream), () -> device.freePinned(word)));
    }
    if (abi != expected) {
      throw new FatalDeviceException(
          "the kernels have interface version " + abi + ", the library has " + expected, null);
    }
  }

  /**
   * The reason why a device cannot run the kernels, if any.
   *
   * <p>Machine code runs on devices of the same generation and the same or a later variant. PTX
   * runs on the same and all later architectures. A driver of an earlier major version than the
   * compiler's takes only the PTX that was made for it.
   *
   * @param device the device
   * @param driverVersion 1000 x major + 10 x minor
   * @return empty if the device can run them
   */
  public Optional<Unavailability> obstacle(CudaDevice device, int driverVersion) {
    if (driverVersion < OLDEST_DRIVER) {
      return Optional.of(
          new Unavailability(
              "the driver is too old: it supports CUDA "
                  + versionText(driverVersion)
                  + ", the kernels need CUDA "
                  + versionText(OLDEST_DRIVER),
              "update the NVIDIA driver, or install a cuda-compat package of CUDA 11 or later"));
    }
    List<String> usable = isOlder(driverVersion) ? List.of(ptxArchitecture) : architectures;
    if (usable.stream().noneMatch(architecture -> runs(architecture, device))) {
      return Optional.of(
          new Unavailability(
              "the kernels of this build ("
                  + String.join(", ", usable)
                  + ") do not run on device "
                  + device.ordinal()
                  + ", "
                  + device.name()
                  + " ("
                  + device.architecture()
                  + ")",
              "add its architecture to KVASIR_CUDA_ARCHITECTURES in cmake/KvasirCuda.cmake and build"
                  + " again"));
    }
    return Optional.empty();
  }

  /**
   * Formats a CUDA version.
   *
   * @param version 1000 x major + 10 x minor
   * @return for example {@code 13.0}
   */
  public static String versionText(int version) {
    return version / 1000 + "." + version % 1000 / 10;
  }

  /** Whether a driver of a version takes only the PTX for older ones. */
  private boolean isOlder(int driverVersion) {
    int major = Integer.parseInt(cudaVersion.substring(0, cudaVersion.indexOf('.')));
    return driverVersion / 1000 < major;
  }

  private static boolean runs(String architecture, CudaDevice device) {
    int capability = 10 * device.computeCapabilityMajor() + device.computeCapabilityMinor();
    if (architecture.startsWith(PTX)) {
      return Integer.parseInt(architecture.substring(PTX.length())) <= capability;
    }
    int compiled = Integer.parseInt(architecture.substring(MACHINE_CODE.length()));
    return compiled / 10 == device.computeCapabilityMajor() && compiled <= capability;
  }
}
