package io.kvasir.mpi;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.Jdk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Starts processes of this build under an MPI library's mpirun. Stateless. */
final class MpiRun {

  /** Lets more processes than cores start, also as root. */
  private static final Map<String, String> PERMISSIONS =
      Map.of(
          "OMPI_ALLOW_RUN_AS_ROOT", "1",
          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1",
          "OMPI_MCA_rmaps_base_oversubscribe", "1",
          "OMPI_MCA_hwloc_base_binding_policy", "none");

  /** By library, whether its compiler finds the headers. */
  private static final Map<String, Boolean> HAS_HEADERS = new ConcurrentHashMap<>();

  private MpiRun() {}

  /**
   * Starts processes; skips the test by name if the library is not installed.
   *
   * @param library suffix of the library's commands
   * @param variables for the environment
   * @param main class to run, and its arguments
   * @return mpirun, whose output has that of all processes
   */
  static ChildProcess start(
      String library, int count, Map<String, String> variables, String... main) throws IOException {
    assumeInstalled(library);
    List<String> command =
        new ArrayList<>(List.of("mpirun." + library, "-n", Integer.toString(count)));
    command.addAll(java(main));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(PERMISSIONS);
    builder.environment().putAll(variables);
    return ChildProcess.start("mpirun." + library, builder);
  }

  static List<String> java(String... main) {
    return Jdk.java(List.of("-XX:+UseSerialGC", "-Xmx512m"), main);
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
    ProcessBuilder compiler =
        new ProcessBuilder("mpicc." + library, "-E", "-include", "mpi.h", "-x", "c", "/dev/null");
    try {
      return ChildProcess.run("mpicc", compiler).exitCode() == 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
