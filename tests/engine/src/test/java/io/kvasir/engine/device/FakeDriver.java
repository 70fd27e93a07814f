package io.kvasir.engine.device;

import io.kvasir.internal.nativelib.PoolLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A CUDA driver without a device, {@code tests/native/fake_cuda_driver.cpp}: Java processes that
 * find it go all the way through JCuda.
 */
public final class FakeDriver {

  /** Where its {@code libcuda.so.1} lies. */
  private static final Path FOLDER =
      Path.of(System.getProperty("kvasir.root"), "java/base/target/native/cmake/tests/fake_cuda");

  private static final int PATIENCE_S = 120;

  private FakeDriver() {}

  /** What a process said. */
  public record Result(int exitCode, String output, String errors) {}

  /**
   * Runs a class with the driver.
   *
   * @param folder for its output
   * @param faults variables that the driver reads
   * @param main the class
   * @param arguments its arguments
   */
  public static Result run(
      Path folder, Map<String, String> faults, Class<?> main, String... arguments)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.library.path=" + System.getProperty("java.library.path"),
                "-Dkvasir.root=" + System.getProperty("kvasir.root"),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
    command.addAll(List.of(arguments));
    Path output = folder.resolve("output");
    Path errors = folder.resolve("errors");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(output.toFile()).redirectError(errors.toFile());
    builder.environment().put("LD_LIBRARY_PATH", FOLDER.toString());
    builder.environment().putAll(faults);
    Process process = builder.start();
    if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
    return new Result(process.exitValue(), Files.readString(output), Files.readString(errors));
  }

  /** Begins to use its device, from within such a process. Any bytes do for a module. */
  public static DeviceApi open() {
    CudaDriver driver = CudaDriver.system();
    driver
        .unavailability()
        .ifPresent(
            cause -> {
              throw new AssertionError(cause.reason());
            });
    DeviceApi device = new JCudaApi().open(driver.devices().get(0));
    device.loadModule(new byte[] {1, 2, 3});
    KernelModule.requireAbi(device, PoolLibrary.kvasir_abi_version());
    return device;
  }
}
