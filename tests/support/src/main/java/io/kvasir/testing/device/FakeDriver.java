package io.kvasir.testing.device;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A CUDA driver without a device, {@code tests/native/fake_cuda_driver.cpp}, which lets Java
 * processes run through JCuda.
 *
 * <p>Stateless.
 */
public final class FakeDriver {

  /** The folder of its {@code libcuda.so.1}. */
  private static final Path FOLDER =
      Path.of(System.getProperty("kvasir.root"), "java/base/target/native/cmake/tests/fake_cuda");

  private FakeDriver() {}

  /**
   * The outcome of a process.
   *
   * @param exitCode its exit code
   * @param output its standard output
   * @param errors its standard error
   */
  public record Result(int exitCode, String output, String errors) {}

  /**
   * Whether the native tests, including the driver, were built.
   *
   * @return true if so
   */
  public static boolean isBuilt() {
    return Files.exists(FOLDER.resolve("libcuda.so.1"));
  }

  /**
   * Runs a class on this process's class path in a new process that loads the driver.
   *
   * @param variables environment variables that the driver reads, such as faults
   * @param main the class
   * @param arguments its arguments
   * @return its outcome
   * @throws IOException if it cannot be started
   */
  public static Result run(Map<String, String> variables, Class<?> main, String... arguments)
      throws IOException {
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
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("LD_LIBRARY_PATH", FOLDER.toString());
    builder.environment().putAll(variables);
    try (ChildProcess process = ChildProcess.start("fake driver", builder)) {
      return new Result(process.exitCode(), process.output(), process.errors());
    }
  }
}
