package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.engine.device.KernelModule;
import io.kvasir.testing.device.FakeDriver;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.ReservedPort;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands in processes that find a CUDA driver without a device: the whole way to its calls. */
@Tag("process")
class FakeDriverCommandsTest {

  private static final String REPLAY =
      "replay --format json --sessions 6 --turns 2 --concurrency 4 --ranks 2 --pool-tokens 8192";

  @BeforeEach
  void requireKernels() {
    assumeTrue(
        KernelModule.embedded().isPresent(), "this build has no GPU kernels: nvcc was missing");
    assumeTrue(FakeDriver.isBuilt(), "the native tests were not built");
  }

  @Test
  void doctorDescribesTheDevice() throws Exception {
    FakeDriver.Result doctor = run(Map.of(), "doctor");
    assertThat(doctor.exitCode()).as(doctor.errors()).isZero();
    assertThat(doctor.output())
        .contains(
            "CUDA driver (optional)   supports CUDA 13.0",
            "Fake GPU, sm_90",
            "memory 0.1 GiB free of 0.1 GiB",
            "--device auto            takes CUDA device 0 (Fake GPU)",
            "Kvasir can run here, on 1 GPU");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--sessions 6 --turns 2 --concurrency 4 --pool-tokens 8192",
        "--sessions 8 --turns 6 --concurrency 8 --pool-tokens 65536",
        "--sessions 16 --turns 2 --concurrency 16 --pool-tokens 8192"
            + " --capacity-scheduler-policy max_utilization",
        "--workload shared_prefix --requests 60 --tokens-per-block 16 --hash-format dynamo"
            + " --pool-tokens 16384",
        "--workload uniform --requests 40 --enable-block-reuse false",
        "--sessions 6 --turns 2 --concurrency 4 --mode context --pool-tokens 16384",
        "--sessions 8 --turns 2 --concurrency 8 --pool-tokens 8192 --workers 2"
            + " --fleet-router conversation",
      })
  void aReplayOnTheDeviceReportsWhatTheHostDoes(String options) throws Exception {
    String line = "replay --format json --ranks 2 " + options;
    Outcome host = Outcome.of(Map.of(), line + " --device cpu");
    FakeDriver.Result device = run(Map.of(), line + " --device cuda");
    assertThat(host.exitCode()).as(host.err()).isZero();
    assertThat(device.exitCode()).as(device.errors()).isZero();
    assertThat(timeless(device.output())).isEqualTo(timeless(host.out()));
    assertThat(device.output()).contains("\"ranks\"");
    assertThat(device.errors()).doesNotContain("fake CUDA driver");
  }

  @Test
  void aReplayOnThePtxOfTheKernelsReportsWhatTheHostDoes() throws Exception {
    assumeTrue(FakeDriver.hasPtx(), "the build found no nvcc");
    Outcome host = Outcome.of(Map.of(), REPLAY + " --device cpu");
    FakeDriver.Result device = run(Map.of("KVASIR_TEST_DEVICE", "ptx"), REPLAY + " --device cuda");
    assertThat(device.exitCode()).as(device.errors()).isZero();
    assertThat(timeless(device.output())).isEqualTo(timeless(host.out()));
  }

  /** Runs a replay in two processes of one rank and one device each. */
  private static List<ChildProcess> inTwoProcesses(Map<String, String> ofSecond, String line)
      throws IOException {
    List<ChildProcess> processes = new ArrayList<>();
    try (ReservedPort port = new ReservedPort()) {
      for (int rank = 0; rank < 2; rank++) {
        Map<String, String> variables = new HashMap<>(rank == 0 ? Map.of() : ofSecond);
        variables.put("KVASIR_GROUP_SECRET", "0123456789abcdef".repeat(4));
        String group =
            " --collective tcp --world-size 2 --master-addr 127.0.0.1"
                + (" --rank " + rank + " --master-port " + port.number());
        processes.add(FakeDriver.start(variables, Main.class, (line + group).split(" ")));
      }
      for (ChildProcess process : processes) {
        int ended = process.exitCode();
        assertThat(ended).as("%s", process).isNotNegative();
      }
      return processes;
    } finally {
      processes.forEach(ChildProcess::close);
    }
  }

  @Test
  void aReplayInTwoProcessesReportsWhatOneOnTheHostDoes() throws Exception {
    Outcome host = Outcome.of(Map.of(), REPLAY + " --device cpu");
    List<ChildProcess> processes = inTwoProcesses(Map.of(), REPLAY + " --device cuda");
    assertThat(processes.get(0).exitCode()).as("%s", processes.get(0)).isZero();
    assertThat(timeless(processes.get(0).output())).isEqualTo(timeless(host.out()));
    assertThat(processes.get(1).exitCode()).as("%s", processes.get(1)).isZero();
  }

  @Test
  void aDeviceThatIsLostInMidRunRetiresItsRankOnly() throws Exception {
    Map<String, String> lost = Map.of("KVASIR_FAKE_CUDA_FAULT", "cuLaunchKernel:30:700");
    List<ChildProcess> processes = inTwoProcesses(lost, REPLAY + " --device cuda");
    ChildProcess first = processes.get(0);
    assertThat(first.exitCode()).as("%s", first).isZero();
    assertThat(first.errors()).contains("Rank 1 is retired");
    assertThat(first.output()).containsPattern("\"completed\" ?: ?12");
  }

  /** What the driver counted, by call and by kernel. */
  private static Map<String, Long> counts(FakeDriver.Result result) {
    Map<String, Long> counts = new HashMap<>();
    Matcher lines = Pattern.compile("fake CUDA driver: (\\w+) (\\d+)").matcher(result.errors());
    while (lines.find()) {
      counts.put(lines.group(1), Long.valueOf(lines.group(2)));
    }
    return counts;
  }

  @Test
  void mostSubmissionsAreOneLaunchWithoutCopies() throws Exception {
    FakeDriver.Result device =
        run(Map.of("KVASIR_FAKE_CUDA_COUNTS", "1"), REPLAY + " --device cuda");
    Map<String, Long> counts = counts(device);
    long inPhases = counts.getOrDefault("kvasir_pool_occupancy", 0L);
    long submissions = counts.get("kvasir_pool_submission") + inPhases;
    assertThat(submissions).as("%s", counts).isGreaterThan(100);
    assertThat(counts.get("cuLaunchKernel")).as("%s", counts).isLessThan(submissions * 6 / 5);
    assertThat(counts.get("cuMemcpyAsync")).as("%s", counts).isLessThan(submissions / 5);
    assertThat(counts.get("cuCtxSetCurrent")).as("%s", counts).isLessThan(submissions);
  }

  @Test
  void anOlderDriverThanTheCompilerTakesThePtx() throws Exception {
    Map<String, String> older = Map.of("KVASIR_FAKE_CUDA_VERSION", "12020");
    FakeDriver.Result doctor = run(older, "doctor");
    assertThat(doctor.output())
        .contains("CUDA driver (optional)   supports CUDA 12.2", "Kvasir can run here, on 1 GPU");
    Outcome host = Outcome.of(Map.of(), REPLAY + " --device cpu");
    FakeDriver.Result device = run(older, REPLAY + " --device cuda");
    assertThat(device.exitCode()).as(device.errors()).isZero();
    assertThat(timeless(device.output())).isEqualTo(timeless(host.out()));
  }

  @Test
  void theReportHasWhatAStepHasJustLeased() throws Exception {
    String line =
        "replay --format json --workload shared_prefix --requests 30 --tokens-per-block 16"
            + " --hash-format dynamo --ranks 2 --pool-tokens 16384 --device ";
    Outcome host = Outcome.of(Map.of(), line + "cpu");
    FakeDriver.Result device = run(Map.of(), line + "cuda");
    assertThat(device.exitCode()).as(device.errors()).isZero();
    assertThat(timeless(device.output())).isEqualTo(timeless(host.out()));
  }

  @Test
  void severalInstancesOnTheDeviceTellOfTheirBlocksAsOnTheHost() throws Exception {
    String line =
        REPLAY.replace("--pool-tokens 8192", "--pool-tokens 3840")
            + " --router kv_cache_aware --workers 2 --fleet-router kv_cache_aware"
            + " --fleet-router-args track_routed_blocks=false";
    Outcome host = Outcome.of(Map.of(), line + " --device cpu");
    FakeDriver.Result device = run(Map.of(), line + " --device cuda");
    assertThat(device.exitCode()).as(device.errors()).isZero();
    assertThat(timeless(device.output())).isEqualTo(timeless(host.out()));
    assertThat(host.out()).contains("\"score\"").containsPattern("\"evictedBlocks\" *: *[1-9]");
  }

  @Test
  void aDeviceThatIsTooSmallOrIsLostIsToldInOneLine() throws Exception {
    FakeDriver.Result small =
        run(Map.of("KVASIR_FAKE_CUDA_BYTES", "1500000"), REPLAY + " --device cuda");
    assertThat(small.exitCode()).isEqualTo(2);
    assertThat(small.errors()).contains("too little memory").contains("bytes were wanted");
    FakeDriver.Result lost =
        run(
            Map.of("KVASIR_FAKE_CUDA_FAULT", "cuLaunchKernel:30:700"),
            REPLAY + " --router default --device cuda");
    assertThat(lost.exitCode()).isEqualTo(1);
    assertThat(lost.output()).isEmpty();
    assertThat(lost.errors()).contains("all ranks are retired").doesNotContain("\tat ");
  }

  private static String timeless(String report) {
    return report.replaceAll("\"wallSeconds\"\\s*:\\s*[0-9.eE+-]+", "\"wallSeconds\":0");
  }

  private FakeDriver.Result run(Map<String, String> variables, String line) throws IOException {
    return FakeDriver.run(variables, Main.class, line.split(" "));
  }
}
