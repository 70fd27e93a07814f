package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.ReservedPort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Replays of three processes over TCP; the last one is configured as on another host. */
@Tag("process")
class NodesTest {

  private static final String REPLAY =
      "replay --sessions 3 --turns 2-3 --concurrency 3 --ranks 4 --pool-tokens 20000"
          + " --router kv_cache_aware --format json --device cpu";
  private static final String LONG_REPLAY = REPLAY.replace("--sessions 3", "--sessions 80");
  private static final int PROCESSES = 3;
  private static final long SEED = 20261123;

  /** Far more than a member of a busy machine needs for a step: only lost ones are silent. */
  private static final long SILENT_SECONDS = Math.max(1, Await.limit().toSeconds() / 12);

  private final List<ChildProcess> processes = new ArrayList<>();
  private final ReservedPort port = new ReservedPort();

  NodesTest() throws IOException {}

  @AfterEach
  void end() throws IOException {
    processes.forEach(ChildProcess::close);
    port.close();
  }

  private void start(LossyLink link, String line) throws IOException {
    for (int rank = 0; rank < PROCESSES; rank++) {
      List<String> command = new ArrayList<>(rank == PROCESSES - 1 ? link.prefix() : List.of());
      command.addAll(KvasirJvm.command(List.of("-XX:+UseSerialGC")));
      command.addAll(Arrays.asList(line.split(" ", -1)));
      command.addAll(List.of("--collective", "tcp", "--world-size", "" + PROCESSES));
      command.addAll(List.of("--rank", "" + rank, "--master-port", "" + port.number()));
      command.addAll(List.of("--master-addr", link.outerAddress()));
      ProcessBuilder builder = new ProcessBuilder(command);
      builder.environment().put("KVASIR_GROUP_SECRET", "0123456789abcdef".repeat(4));
      processes.add(ChildProcess.start("process " + rank, builder));
    }
  }

  private void assertEnds(int rank, int exitCode) {
    ChildProcess process = processes.get(rank);
    assertThat(process.exitCode()).as(process.toString()).isEqualTo(exitCode);
  }

  private static String withoutTimes(String report) {
    return report.replaceAll("\"wallSeconds\" ?: ?[0-9.E-]+", "\"wallSeconds\":0");
  }

  @Test
  void delayAndLossChangeNoDecision() throws Exception {
    try (LossyLink link = LossyLink.create(2, 1, SEED)) {
      start(link, REPLAY);
      for (int rank = 0; rank < PROCESSES; rank++) {
        assertEnds(rank, 0);
      }
    }
    Outcome alone = Outcome.of(Map.of(), REPLAY);
    assertThat(withoutTimes(processes.get(0).output())).isEqualTo(withoutTimes(alone.out()));
    assertThat(processes.get(1).output()).isEmpty();
  }

  @Test
  void aCutRetiresExactlyTheMembersBehindIt() throws Exception {
    try (LossyLink link = LossyLink.create(2, 0, SEED)) {
      awaitSteps(link);
      link.cut();
      processes.get(0).await("without rank 3", () -> retired(processes.get(0)).count() > 0);
      link.heal();
      assertLastIsRetired();
    }
  }

  @Test
  void aStoppedProcessIsRetired() throws Exception {
    try (LossyLink link = LossyLink.create(0, 0, SEED)) {
      awaitSteps(link);
      processes.get(PROCESSES - 1).signal("STOP");
      assertEnds(0, 0);
      processes.get(PROCESSES - 1).signal("CONT");
      assertLastIsRetired();
    }
  }

  /** Starts a long replay and waits until its processes gather. */
  private void awaitSteps(LossyLink link) throws Exception {
    start(link, LONG_REPLAY + " --collective-timeout-seconds " + SILENT_SECONDS);
    processes.get(0).await("in step with the others", this::gathers);
    assertThat(processes.get(0).process().isAlive()).as("the replay has not ended").isTrue();
  }

  /** The last process ends with an error, and the others complete every request without it. */
  private void assertLastIsRetired() {
    assertEnds(2, 1);
    assertEnds(1, 0);
    assertEnds(0, 0);
    assertThat(processes.get(2).errors()).contains("has lost its coordinator");
    for (ChildProcess other : processes.subList(0, 2)) {
      assertThat(retired(other))
          .as(other.toString())
          .singleElement()
          .asString()
          .contains("Rank 3 is retired", "member 2 (rank 3) is lost");
    }
    Outcome alone = Outcome.of(Map.of(), LONG_REPLAY);
    assertThat(completed(processes.get(0).output())).isEqualTo(completed(alone.out()));
  }

  private static Stream<String> retired(ChildProcess process) {
    return process.errors().lines().filter(line -> line.contains("is retired"));
  }

  /** Whether the members have been in step for a while: the last one has sent many packets. */
  private boolean gathers() throws IOException {
    Path counters = Path.of("/proc", "" + processes.get(PROCESSES - 1).pid(), "net/dev");
    return Files.exists(counters)
        && Files.readAllLines(counters).stream()
            .map(String::strip)
            .filter(line -> line.startsWith("kvl"))
            .anyMatch(line -> Long.parseLong(line.split("\\s+", -1)[2]) > 500);
  }

  private static String completed(String report) {
    return report.replaceAll("(?s).*?\"completed\" ?: ?(\\d+).*", "$1");
  }
}
