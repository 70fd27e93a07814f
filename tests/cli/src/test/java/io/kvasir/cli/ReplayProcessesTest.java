package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Processes that {@code kvasir replay --processes} starts. */
@Timeout(240)
class ReplayProcessesTest {

  private static final String SMALL =
      "replay --sessions 6 --turns 2-3 --concurrency 3 --ranks 4 --format json --device cpu";

  /** Well below the 300 s in which processes may join, well above what a slow machine needs. */
  private static final Duration SOON = Duration.ofSeconds(60);

  private static Outcome run(String line) {
    return Outcome.of(Map.of(), line);
  }

  private static Outcome runSoon(String line) {
    long startNs = System.nanoTime();
    Outcome outcome = run(line);
    assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(SOON);
    return outcome;
  }

  @Test
  void aProcessThatDiesBeforeItJoinsEndsTheRunByName() {
    Outcome outcome = runSoon(SMALL + " --processes 2 --process-java-options=-XX:+NoSuchOption");
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.err())
        .startsWith(
            "member 1 (ranks 2 to 3) ended before all members had joined: exit code 1, after the"
                + " error: ")
        .contains("Error: ")
        .hasLineCount(1);
  }

  @Test
  void processesThatDoNotJoinInTimeAreNamed() {
    // The debugger's agent keeps the process from starting until a debugger attaches.
    String suspended =
        "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,quiet=y,address=127.0.0.1:0";
    Outcome outcome =
        runSoon(
            SMALL + " --processes 2 --join-timeout-seconds 1 --process-java-options=" + suspended);
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err()).isEqualTo("[member 1 (ranks 2 to 3)] did not join within 1000 ms\n");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void noCommandLineAndNoEnvironmentHasTheSecret() throws Exception {
    CompletableFuture<Outcome> running =
        CompletableFuture.supplyAsync(() -> run(SMALL + " --processes 2"));
    Set<String> own = new HashSet<>(strings(Path.of("/proc/self/environ")));
    List<String> arguments = List.of();
    List<String> environment = List.of();
    while (!running.isDone()) {
      for (ProcessHandle child : ProcessHandle.current().children().toList()) {
        Path process = Path.of("/proc", Long.toString(child.pid()));
        List<String> line = strings(process.resolve("cmdline"));
        if (line.contains("--lockstep-member")) {
          arguments = line;
          environment = strings(process.resolve("environ"));
        }
      }
      Thread.sleep(5);
    }
    assertThat(running.get().exitCode()).isZero();

    List<String> given = new ArrayList<>(List.of(SMALL.split(" ")));
    given.addAll(List.of("--processes", "2", "--lockstep-member", "1", "--lockstep-port"));
    int main = arguments.indexOf("io.kvasir.cli.Main");
    assertThat(main).as("a started process was seen").isPositive();
    assertThat(arguments.subList(main + 1, arguments.size() - 1)).isEqualTo(given);
    assertThat(arguments.get(arguments.size() - 1)).matches("\\d{1,5}");
    assertThat(environment).allMatch(own::contains);
  }

  /** The strings of a file that separates them by zeros; none if the process has ended. */
  private static List<String> strings(Path file) {
    try {
      return Arrays.asList(Files.readString(file).split("\0"));
    } catch (IOException e) {
      return List.of();
    }
  }

  @Test
  void aProcessWithoutASecretSaysSo() {
    Outcome outcome = run(SMALL + " --processes 2 --lockstep-member 1 --lockstep-port 1");
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err()).isEqualTo("standard input: a secret must be 64 hexadecimal digits\n");
  }
}
