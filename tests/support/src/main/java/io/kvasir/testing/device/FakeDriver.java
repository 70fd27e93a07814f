package io.kvasir.testing.device;

import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
   * Whether nvcc was there to make PTX of the kernels, which the driver interprets if
   * KVASIR_TEST_DEVICE is ptx.
   *
   * @return true if so
   */
  public static boolean hasPtx() {
    return Files.exists(FOLDER.resolveSibling("kernels.ptx"));
  }

  /**
   * Runs a class on this process's class path in a new process that loads the driver.
   *
   * @param variables environment variables, such as faults of the driver
   * @param main the class
   * @param arguments its arguments
   * @return its outcome
   * @throws IOException if it cannot be started
   */
  public static Result run(Map<String, String> variables, Class<?> main, String... arguments)
      throws IOException {
    ChildProcess ended =
        ChildProcess.run(main.getSimpleName(), builder(variables, main, arguments));
    return new Result(ended.exitCode(), ended.output(), ended.errors());
  }

  /**
   * Starts what {@link #run} runs.
   *
   * @param variables environment variables
   * @param main the class
   * @param arguments its arguments
   * @return the process; the caller closes it
   * @throws IOException if it cannot be started
   */
  public static ChildProcess start(
      Map<String, String> variables, Class<?> main, String... arguments) throws IOException {
    return ChildProcess.start(main.getSimpleName(), builder(variables, main, arguments));
  }

  private static ProcessBuilder builder(
      Map<String, String> variables, Class<?> main, String... arguments) {
    String[] words = new String[arguments.length + 1];
    words[0] = main.getName();
    System.arraycopy(arguments, 0, words, 1, arguments.length);
    ProcessBuilder builder =
        new ProcessBuilder(
            Jdk.java(
                List.of(
                    "--enable-native-access=ALL-UNNAMED",
                    "-Djava.library.path=" + System.getProperty("java.library.path"),
                    "-Dkvasir.root=" + System.getProperty("kvasir.root")),
                words));
    builder.environment().put("LD_LIBRARY_PATH", FOLDER.toString());
    builder.environment().putAll(variables);
    return builder;
  }
}
