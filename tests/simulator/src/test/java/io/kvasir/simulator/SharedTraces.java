package io.kvasir.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** Finds the real traces, which are not part of the repository. */
public final class SharedTraces {

  private SharedTraces() {}

  /** The file, or a skipped test; a failed one where KVASIR_REQUIRE_SHARED=1. */
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
