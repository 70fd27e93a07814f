package io.kvasir.testing.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Locates the real traces, which are not part of the repository.
 *
 * <p>Stateless.
 */
public final class SharedTraces {

  private SharedTraces() {}

  /**
   * Locates a file of {@code $KVASIR_SHARED/traces}. If it is missing, the test is skipped, or
   * fails if KVASIR_REQUIRE_SHARED=1.
   *
   * @param name of the file
   * @return the file
   */
  public static Path require(String name) {
    String shared = System.getenv("KVASIR_SHARED");
    Path folder =
        shared == null
            ? Path.of(System.getProperty("kvasir.root")).resolveSibling("shared")
            : Path.of(shared);
    Path file = folder.resolve("traces").resolve(name);
    if ("1".equals(System.getenv("KVASIR_REQUIRE_SHARED"))) {
      assertThat(file).as("required by KVASIR_REQUIRE_SHARED=1").exists();
    }
    assumeTrue(Files.exists(file), () -> file + " is absent");
    return file;
  }
}
