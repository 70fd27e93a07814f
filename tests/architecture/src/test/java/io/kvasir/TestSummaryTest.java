package io.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The line that a build prints about the tests of a module. */
@Tag("process")
class TestSummaryTest {

  private static final String EARLIER = "Tests run: 7, Failures: 0, Errors: 0, Skipped: 0, Time";
  private static final String NOW = "Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time";

  @TempDir private Path folder;

  private Path script;
  private Path target;

  @BeforeEach
  void makeAModule() throws IOException {
    Path tests = Files.createDirectories(folder.resolve("a checkout/tests"));
    script = tests.resolve("summary");
    Files.copy(
        Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")), "tests", "summary"),
        script);
    Files.writeString(tests.resolve("pom.xml"), "<module>fleet</module>\n<module>cli</module>\n");
    target = Files.createDirectories(tests.resolve("fleet/target/surefire-reports")).getParent();
    report("io.kvasir.OldTest.txt", EARLIER);
    Instant before = Instant.now().minusSeconds(60);
    Files.setLastModifiedTime(
        target.resolve("surefire-reports/io.kvasir.OldTest.txt"), FileTime.from(before));
    run("begin", target.toString());
  }

  @Test
  void onlyTheTestsOfThisRunAreCounted() throws IOException {
    assertThat(end("${test}", "projects []").output()).isEmpty();

    report("io.kvasir.NewTest.txt", NOW);
    assertThat(end("${test}", "projects []").output())
        .isEqualTo("kvasir: Tests of fleet: 3 tests, 1 failed, 0 s\n");
  }

  @Test
  void aNameThatMatchesNothingInANamedModuleFails() throws IOException {
    for (String projects :
        new String[] {"tests/fleet", ":kvasir-fleet-tests", "tests/cli, tests/fleet"}) {
      ChildProcess ended = end("NoSuchTest", "projects [" + projects + "]");
      assertThat(ended.exitCode()).as(projects).isEqualTo(1);
      assertThat(ended.errors())
          .isEqualTo("kvasir: Tests of fleet: no test matches -Dtest=NoSuchTest\n");
    }
    assertThat(end("NewTest", "projects [tests/cli]").exitCode()).as("a module it needs").isZero();
    report("io.kvasir.NewTest.txt", NOW);
    assertThat(end("NewTest", "projects [tests/fleet]").exitCode()).isZero();
  }

  @Test
  void aNameThatMatchesNothingAnywhereFailsInTheLastModule() throws IOException {
    assertThat(end("NoSuchTest", "projects []").exitCode()).isZero();
    assertThat(end("NoSuchTest", "projects []").exitCode()).isZero();
    ChildProcess last = end("NoSuchTest", "projects []");
    assertThat(last.exitCode()).isEqualTo(1);
    assertThat(last.errors())
        .isEqualTo("kvasir: no test of any module matches -Dtest=NoSuchTest\n");
  }

  private void report(String name, String line) throws IOException {
    Files.writeString(
        target.resolve("surefire-reports").resolve(name), line + " elapsed: 0.1 s -- in x\n");
  }

  private ChildProcess end(String test, String projects) throws IOException {
    return run(
        "end",
        target.toString(),
        "Tests of fleet",
        "kvasir-fleet-tests",
        test,
        projects,
        "2026-01-02");
  }

  private ChildProcess run(String... words) throws IOException {
    String[] line = new String[words.length + 2];
    line[0] = "sh";
    line[1] = script.toString();
    System.arraycopy(words, 0, line, 2, words.length);
    return ChildProcess.run("summary", new ProcessBuilder(line));
  }
}
