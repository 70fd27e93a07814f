package io.kvasir.cli.serve;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Programs that tests need besides Java. Stateless. */
public final class Tools {

  /** Where the clients and the stub server lie. */
  static final Path CLIENTS =
      Path.of(System.getProperty("kvasir.root", "../.."), "tests/gateway/clients");

  private Tools() {}

  /** What a program did. */
  record Result(int exitCode, String output) {}

  /** The Python interpreter: {@code KVASIR_PYTHON}, or {@code python3}. */
  public static String python() {
    String python = System.getenv("KVASIR_PYTHON");
    return python == null || python.isBlank() ? "python3" : python;
  }

  /** Skips the test if Python or one of its packages is missing. */
  public static void requirePython(String... packages) throws IOException {
    for (String name : packages) {
      Result found;
      try {
        found = run(Path.of("."), Map.of(), python(), "-c", "import " + name);
      } catch (IOException e) {
        assumeTrue(false, "Python is missing (apt-get install python3): " + e.getMessage());
        return;
      }
      assumeTrue(
          found.exitCode() == 0,
          () ->
              "the Python package "
                  + name
                  + " is missing for "
                  + python()
                  + ": install it, or name another interpreter in KVASIR_PYTHON");
    }
  }

  /**
   * A copy of the clients with the packages of npm. The test is skipped if node or npm is missing,
   * or npm cannot install them; with KVASIR_REQUIRE_NODE=1 it fails.
   *
   * @param user names the copy, because test classes run at the same time
   */
  static Path nodeFolder(Class<?> user) throws IOException {
    return nodeFolder(CLIENTS, user);
  }

  /** The same of another folder that has packages of npm. */
  static Path nodeFolder(Path source, Class<?> user) throws IOException {
    Path folder = Files.createDirectories(Path.of("target", "clients", user.getSimpleName()));
    try (Stream<Path> files = Files.list(source)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(file, folder.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    require(folder, "node", "--version");
    require(folder, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error");
    return folder;
  }

  /** The program of Chromium. The test is skipped if there is none. */
  static Path chromium() {
    for (String folder : System.getenv("PATH").split(":")) {
      Path program = Path.of(folder, "chromium");
      if (Files.isExecutable(program)) {
        return program;
      }
    }
    assumeTrue(false, "Chromium is missing: apt-get install chromium");
    throw new AssertionError();
  }

  private static void require(Path folder, String... command) {
    String missing;
    try {
      Result result = run(folder, Map.of(), command);
      if (result.exitCode() == 0) {
        return;
      }
      missing = String.join(" ", command) + " failed:\n" + result.output();
    } catch (IOException e) {
      missing = command[0] + " is missing: apt-get install nodejs npm";
    }
    if ("1".equals(System.getenv("KVASIR_REQUIRE_NODE"))) {
      throw new AssertionError("required by KVASIR_REQUIRE_NODE=1: " + missing);
    }
    assumeTrue(false, missing);
  }

  /** Runs a program to its end. Its proxy, if any, is not used for this machine. */
  static Result run(Path folder, Map<String, String> variables, String... command)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(List.of(command)).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().putAll(variables);
    builder.environment().put("NO_PROXY", "127.0.0.1");
    builder.environment().put("no_proxy", "127.0.0.1");
    ChildProcess ended = ChildProcess.run(command[0], builder);
    return new Result(ended.exitCode(), ended.output());
  }
}
