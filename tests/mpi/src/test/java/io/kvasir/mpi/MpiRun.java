package io.kvasir.mpi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Starts processes of this build under an MPI library's mpirun. */
final class MpiRun implements AutoCloseable {

  /** Lets more processes than cores start, also as root. */
  private static final Map<String, String> PERMISSIONS =
      Map.of(
          "OMPI_ALLOW_RUN_AS_ROOT", "1",
          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1",
          "OMPI_MCA_rmaps_base_oversubscribe", "1",
          "OMPI_MCA_hwloc_base_binding_policy", "none");

  /** Several processes poll on few cores, so other work on the machine slows them much. */
  private static final long LIMIT_SECONDS = 600;

  /** By library, whether its compiler finds the headers. */
  private static final Map<String, Boolean> HAS_HEADERS = new ConcurrentHashMap<>();

  private final Process process;
  private final Path output;

  /** The end of all processes. */
  record End(int exitCode, String output) {}

  private MpiRun(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  /**
   * Starts processes; skips the test by name if the library is not installed.
   *
   * @param library suffix of the library's commands
   * @param folder receives the output
   * @param variables for the environment
   * @param main class to run, and its arguments
   */
  static MpiRun start(
      String library, int count, Path folder, Map<String, String> variables, String... main)
      throws IOException {
    assumeInstalled(library);
    List<String> command =
        new ArrayList<>(List.of("mpirun." + library, "-n", Integer.toString(count)));
    command.addAll(java(main));
    Path output = folder.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(PERMISSIONS);
    builder.environment().putAll(variables);
    return new MpiRun(builder.start(), output);
  }

  static List<String> java(String... main) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx512m",
                "-cp",
                System.getProperty("java.class.path")));
    command.addAll(List.of(main));
    return command;
  }

  static void assumeInstalled(String library) {
    for (String program : List.of("mpirun." + library, "mpicc." + library)) {
      boolean installed =
          Arrays.stream(System.getenv("PATH").split(":", -1))
              .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
      assumeTrue(installed, program + " is not installed");
    }
    assumeTrue(
        HAS_HEADERS.computeIfAbsent(library, MpiRun::hasHeaders),
        "the headers of mpicc." + library + " are not installed");
  }

  /** Debian has the compiler in another package than the headers. */
  private static boolean hasHeaders(String library) {
    try {
      Process compiler =
          new ProcessBuilder("mpicc." + library, "-E", "-include", "mpi.h", "-x", "c", "/dev/null")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return compiler.waitFor() == 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while mpicc." + library + " ran", e);
    }
  }

  long pid() {
    return process.pid();
  }

  End await() throws IOException, InterruptedException {
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      close();
      throw new AssertionError("the processes hang: " + Files.readString(output));
    }
    return new End(process.exitValue(), Files.readString(output, UTF_8));
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
