package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.engine.device.KernelModule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands in processes that find a CUDA driver without a device: the whole way to its calls. */
class FakeDriverCommandsTest {

  private static final Path ROOT = Path.of(System.getProperty("kvasir.root"));
  private static final Path DRIVER = ROOT.resolve("java/base/target/native/cmake/tests/fake_cuda");
  private static final int PATIENCE_S = 120;

  private static final String REPLAY =
      "replay --format json --sessions 6 --turns 2 --concurrency 4 --ranks 2 --pool-tokens 8192";

  @TempDir private Path folder;

  private record Outcome(int exitCode, String out, String err) {}

  @BeforeEach
  void requireKernels() {
    assumeTrue(
        KernelModule.embedded().isPresent(), "this build has no GPU kernels: nvcc was missing");
    assumeTrue(Files.exists(DRIVER.resolve("libcuda.so.1")), "the native tests were not built");
  }

  @Test
  void doctorDescribesTheDevice() throws Exception {
    Outcome doctor = run(Map.of(), "doctor");
    assertThat(doctor.exitCode).as(doctor.err).isZero();
    assertThat(doctor.out)
        .contains(
            "CUDA driver              supports CUDA 13.0",
            "Fake GPU, sm_90",
            "memory 0.1 GiB free of 0.1 GiB",
            "--device auto            takes CUDA device 0 (Fake GPU)");
  }

  @Test
  void aReplayOnTheDeviceReportsWhatTheHostDoes() throws Exception {
    Outcome host = run(Map.of(), REPLAY + " --device cpu");
    Outcome device = run(Map.of(), REPLAY + " --device cuda");
    assertThat(host.exitCode).as(host.err).isZero();
    assertThat(device.exitCode).as(device.err).isZero();
    assertThat(timeless(device.out)).isEqualTo(timeless(host.out));
    assertThat(device.out).contains("\"ranks\"");
    assertThat(device.err).doesNotContain("fake CUDA driver");
  }

  @Test
  void severalInstancesOnTheDeviceTellOfTheirBlocksAsOnTheHost() throws Exception {
    String line =
        REPLAY.replace("--pool-tokens 8192", "--pool-tokens 3840")
            + " --router kv_cache_aware --instances 2 --serve-router kv_cache_aware"
            + " --serve-router-args track_routed_blocks=false";
    Outcome host = run(Map.of(), line + " --device cpu");
    Outcome device = run(Map.of(), line + " --device cuda");
    assertThat(device.exitCode).as(device.err).isZero();
    assertThat(timeless(device.out)).isEqualTo(timeless(host.out));
    assertThat(host.out).contains("\"score\"").containsPattern("\"evictedBlocks\" *: *[1-9]");
  }

  @Test
  void aDeviceThatIsTooSmallOrIsLostIsToldInOneLine() throws Exception {
    Outcome small = run(Map.of("KVASIR_FAKE_CUDA_BYTES", "1500000"), REPLAY + " --device cuda");
    assertThat(small.exitCode).isEqualTo(2);
    assertThat(small.err).contains("too little memory").contains("bytes were wanted");
    Outcome lost =
        run(
            Map.of("KVASIR_FAKE_CUDA_FAULT", "cuLaunchKernel:200:700"),
            REPLAY + " --router default --device cuda");
    assertThat(lost.exitCode).isEqualTo(1);
    assertThat(lost.out).isEmpty();
    assertThat(lost.err).contains("all ranks are lost").doesNotContain("\tat ");
  }

  private static String timeless(String report) {
    return report.replaceAll("\"wallSeconds\"\\s*:\\s*[0-9.eE+-]+", "\"wallSeconds\":0");
  }

  private Outcome run(Map<String, String> variables, String line)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.library.path=" + System.getProperty("java.library.path"),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
    command.addAll(List.of(line.split(" ")));
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().put("LD_LIBRARY_PATH", DRIVER.toString());
    builder.environment().putAll(variables);
    Process process = builder.start();
    if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
    return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
  }
}
