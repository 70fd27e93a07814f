package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Processes that {@code kvasir replay --processes} starts. */
@Tag("process")
class ReplayProcessesTest {

  private static final String SMALL =
      "replay --sessions 6 --turns 2-3 --concurrency 3 --ranks 4 --format json --device cpu";

  private static Outcome run(String line) {
    return Outcome.of(Map.of(), line);
  }

  @Test
  void aProcessThatDiesBeforeItJoinsEndsTheRunByName() {
    // It could join for longer than the limit of all tests.
    Outcome outcome =
        run(
            SMALL
                + " --processes 2 --join-timeout-seconds 3600"
                + " --process-java-options=-XX:+NoSuchOption");
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
        run(SMALL + " --processes 2 --join-timeout-seconds 1 --process-java-options=" + suspended);
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err()).isEqualTo("[member 1 (ranks 2 to 3)] did not join within 1000 ms\n");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void noCommandLineAndNoEnvironmentHasTheSecret() throws Exception {
    CompletableFuture<Outcome> running =
        CompletableFuture.supplyAsync(() -> run(SMALL + " --processes 2"));
    Set<String> own = new HashSet<>(strings(Path.of("/proc/self/environ")));
    AtomicReference<Started> seen = new AtomicReference<>();
    Await.until(
        "the end of the replay",
        () -> {
          Started.now().ifPresent(seen::set);
          return running.isDone();
        });
    assertThat(running.get().exitCode()).isZero();
    Started started = seen.get();
    assertThat(started).as("a started process was seen").isNotNull();

    List<String> given = new ArrayList<>(List.of(SMALL.split(" ")));
    given.addAll(List.of("--processes", "2", "--lockstep-member", "1", "--lockstep-port"));
    List<String> arguments = started.arguments;
    int main = arguments.indexOf("io.kvasir.cli.Main");
    assertThat(main).isPositive();
    assertThat(arguments.subList(main + 1, arguments.size() - 1)).isEqualTo(given);
    assertThat(arguments.get(arguments.size() - 1)).matches("\\d{1,5}");
    assertThat(started.environment).isNotEmpty().allMatch(own::contains);
  }

  /** What the system shows of a process that this one has started. */
  private record Started(List<String> arguments, List<String> environment) {

    static Optional<Started> now() {
      return ProcessHandle.current()
          .children()
          .map(child -> Path.of("/proc", Long.toString(child.pid())))
          .map(at -> new Started(strings(at.resolve("cmdline")), strings(at.resolve("environ"))))
          .filter(each -> each.arguments.contains("--lockstep-member"))
          .filter(each -> !each.environment.isEmpty())
          .findAny();
    }
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
