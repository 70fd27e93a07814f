package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replays of three processes over TCP, of which the last is on another host, as far as it knows.
 */
@Timeout(300)
class NodesTest {

  private static final String REPLAY =
      "replay --sessions 6 --turns 2-3 --concurrency 3 --ranks 4 --pool-tokens 20000"
          + " --router kv_cache_aware --format json --device cpu";
  private static final String LONG_REPLAY = REPLAY.replace("--sessions 6", "--sessions 300");
  private static final int PROCESSES = 3;
  private static final long SEED = 20261123;
  private static final int CUT_MS = 10_000;
  private static final long LIMIT_SECONDS = 240;

  @TempDir private Path folder;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private void start(LossyLink link, String line) throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    for (int rank = 0; rank < PROCESSES; rank++) {
      List<String> command = new ArrayList<>(rank == PROCESSES - 1 ? link.prefix() : List.of());
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
      command.addAll(List.of(System.getProperty("java.class.path"), "io.kvasir.cli.Main"));
      command.addAll(Arrays.asList(line.split(" ", -1)));
      command.addAll(List.of("--collective", "tcp", "--world-size", "" + PROCESSES));
      command.addAll(List.of("--rank", "" + rank, "--master-port", "" + port));
      command.addAll(List.of("--master-addr", link.outerAddress()));
      ProcessBuilder builder = new ProcessBuilder(command);
      builder.environment().put("KVASIR_GROUP_SECRET", "0123456789abcdef".repeat(4));
      builder.redirectOutput(folder.resolve("out-" + rank).toFile());
      builder.redirectError(folder.resolve("err-" + rank).toFile());
      processes.add(builder.start());
    }
  }

  private int await(int rank) throws InterruptedException {
    assertThat(processes.get(rank).waitFor(LIMIT_SECONDS, TimeUnit.SECONDS))
        .as("process %d ends", rank)
        .isTrue();
    return processes.get(rank).exitValue();
  }

  private String read(String file) throws IOException {
    return Files.readString(folder.resolve(file));
  }

  private static String withoutTimes(String report) {
    return report.replaceAll("\"wallSeconds\" ?: ?[0-9.E-]+", "\"wallSeconds\":0");
  }

  @Test
  void delayAndLossChangeNoDecision() throws Exception {
    try (LossyLink link = LossyLink.create(2, 1, SEED)) {
      start(link, REPLAY);
      for (int rank = 0; rank < PROCESSES; rank++) {
        assertThat(await(rank)).as(read("err-" + rank)).isZero();
      }
    }
    Outcome alone = Outcome.of(Map.of(), REPLAY);
    assertThat(withoutTimes(read("out-0"))).isEqualTo(withoutTimes(alone.out()));
    assertThat(read("out-1")).isEmpty();
  }

  @Test
  void aCutRetiresExactlyTheMembersBehindIt() throws Exception {
    try (LossyLink link = LossyLink.create(2, 0, SEED)) {
      awaitSteps(link);
      link.cut();
      Thread.sleep(CUT_MS);
      link.heal();
      assertLastIsRetired();
    }
  }

  @Test
  void aStoppedProcessIsRetired() throws Exception {
    try (LossyLink link = LossyLink.create(0, 0, SEED)) {
      awaitSteps(link);
      signal("STOP");
      assertThat(await(0)).as(read("err-0")).isZero();
      signal("CONT");
      assertLastIsRetired();
    }
  }

  private void signal(String signal) throws Exception {
    String pid = Long.toString(processes.get(PROCESSES - 1).pid());
    assertThat(new ProcessBuilder("kill", "-" + signal, pid).start().waitFor()).isZero();
  }

  /** Starts a long replay and waits until its processes gather. */
  private void awaitSteps(LossyLink link) throws Exception {
    start(link, LONG_REPLAY + " --collective-timeout-seconds 2");
    while (processes.get(0).isAlive() && !gathers()) {
      Thread.sleep(50);
    }
    assertThat(processes.get(0).isAlive()).as("the replay has not ended").isTrue();
  }

  /** The last process ends with an error, and the others complete every request without it. */
  private void assertLastIsRetired() throws Exception {
    assertThat(await(2)).as(read("err-2")).isEqualTo(1);
    assertThat(await(1)).as(read("err-1")).isZero();
    assertThat(await(0)).as(read("err-0")).isZero();
    assertThat(read("err-2")).contains("has lost its coordinator");
    for (String errors : List.of(read("err-0"), read("err-1"))) {
      assertThat(errors.lines().filter(line -> line.contains("is retired")))
          .as(errors)
          .singleElement()
          .asString()
          .contains("Rank 3 is retired", "member 2 (rank 3) is lost");
    }
    Outcome alone = Outcome.of(Map.of(), LONG_REPLAY);
    assertThat(completed(read("out-0"))).isEqualTo(completed(alone.out()));
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
