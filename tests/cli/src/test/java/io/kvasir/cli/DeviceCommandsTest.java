package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.cli.command.CommandRunner;
import io.kvasir.cli.command.Diagnosis;
import io.kvasir.cli.command.DiagnosisText;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.engine.device.NativeLibrary;
import io.kvasir.engine.device.Unavailability;
import io.kvasir.testing.harness.ReservedPort;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code doctor} and {@code --device}, on machines with and without a GPU. */
class DeviceCommandsTest {

  private static final String SMALL =
      "replay --router default --format json --sessions 4 --turns 2 --concurrency 2 --ranks 2";

  /** What a command did. */
  private record Outcome(int exitCode, String out, String err) {}

  @Test
  void doctorExplainsAMachineWithoutGpu() {
    Diagnosis diagnosis =
        Diagnosis.of("1.2.3", FakeMachine.withoutGpu(), Map.of("CUDA_VISIBLE_DEVICES", ""));

    assertThat(DiagnosisText.of(diagnosis))
        .isEqualTo(
            """
            kvasir                   1.2.3
            java                     17.0.1, Acme, Linux amd64
            native library           ABI 1, loaded from /lib/x.so
            GPU kernels (optional)   cannot be used: this build has no GPU kernels: nvcc was missing when it was built
                                     -> install the CUDA toolkit and build again
            CUDA driver (optional)   cannot be used: there is no NVIDIA driver: libcuda.so.1 cannot be loaded
                                     -> install the NVIDIA driver; in a container, pass the GPUs in (--gpus all)
            NVML (optional)          cannot be used: the CUDA runtime libcudart.so.13 cannot be loaded
                                     -> install the package cuda-cudart-13-0, or add its folder to LD_LIBRARY_PATH
            CUDA_VISIBLE_DEVICES     empty
            CUDA_MPS_PIPE_DIRECTORY  not set
            --device auto            takes the CPU: see CUDA driver

            Kvasir can run here, on the CPU
            """);
  }

  @Test
  void doctorGivesACauseAndItsRemedyOnce() {
    Machine machine = FakeMachine.withoutDriver();
    Unavailability driver = machine.cuda().get().unavailability().orElseThrow();

    assertThat(run(machine, "doctor").out())
        .containsOnlyOnce(driver.reason())
        .containsOnlyOnce(driver.remedy())
        .contains("NVML (optional)          cannot be used: see CUDA driver\n");
  }

  @Test
  void doctorDescribesDevices() {
    Diagnosis diagnosis =
        Diagnosis.of(
            "1.2.3", FakeMachine.withGpus(), Map.of("CUDA_MPS_PIPE_DIRECTORY", "/run/mps"));

    assertThat(DiagnosisText.of(diagnosis))
        .isEqualTo(
            """
            kvasir                   1.2.3
            java                     17.0.1, Acme, Linux amd64
            native library           ABI 1, loaded from /lib/x.so
            GPU kernels (optional)   ABI 1, 4,712 bytes, CUDA 13.0, for sm_80, compute_80; drivers from CUDA 11.0 on compile compute_80
            CUDA driver (optional)   supports CUDA 13.0
              device 0               NVIDIA H100, sm_90
                                     uuid aa-bb, PCI 0000:1A:00.0, NUMA node 1
                                     memory 40.0 GiB free of 80.0 GiB
                                     utilization 37 %, uncorrected ECC errors 2, row remapping pending: reset the GPU, MIG disabled
                                     reaches device 2 (host bridge)
              device 1               NVIDIA H100 MIG 1g (MIG instance), sm_90
                                     uuid cc-dd, PCI 0000:3B:00.0
                                     memory 10.0 GiB
                                     MIG enabled
              device 2               Tesla V100, sm_70
                                     uuid ee-ff, PCI 0000:5C:00.0, NUMA node 0
                                     memory 8.0 GiB free of 16.0 GiB
                                     reaches device 0
                                     cannot be used: the kernels of this build (sm_80, compute_80) do not run on device 2, Tesla V100 (sm_70)
                                     -> add its architecture to KVASIR_CUDA_ARCHITECTURES in cmake/KvasirCuda.cmake and build again
            NVML (optional)          NVIDIA driver 580.65.06
            CUDA_VISIBLE_DEVICES     not set
            CUDA_MPS_PIPE_DIRECTORY  /run/mps
            --device auto            takes CUDA device 0 (NVIDIA H100), CUDA device 1 (NVIDIA H100 MIG 1g)

            Kvasir can run here, on 2 GPUs
            """);
  }

  @Test
  void doctorFailsWhereNothingCanRun() {
    Machine gpu = FakeMachine.withGpus();
    NativeLibrary none =
        new NativeLibrary(
            Optional.empty(),
            OptionalInt.empty(),
            Optional.of(new Unavailability("this build is for linux-arm64", "build it here")));
    Machine machine = new Machine(gpu.java(), () -> none, gpu.module(), gpu.cuda(), gpu.nvml());
    Outcome doctor = run(machine, "doctor");
    assertThat(doctor.exitCode()).isEqualTo(1);
    assertThat(doctor.out()).contains("this build is for linux-arm64", "-> build it here");
    assertThat(doctor.out()).endsWith("\nKvasir cannot run here: this build is for linux-arm64\n");
  }

  @Test
  void doctorEndsWellOnAnyMachine() throws IOException {
    assertThat(run(Machine.local(), "doctor").exitCode()).isZero();
    assertThat(run(Machine.local(), "doctor").out()).contains("CUDA driver", "--device auto");
    assertThat(run(FakeMachine.withoutGpu(), "doctor --format json").exitCode()).isZero();

    JsonNode none = json(run(FakeMachine.withoutGpu(), "doctor --format json"));
    assertThat(none.at("/kernelModule/usable").asBoolean()).isFalse();
    assertThat(none.at("/cuda/usable").asBoolean()).isFalse();
    assertThat(none.at("/cuda/reason").asText()).startsWith("there is no NVIDIA driver");
    assertThat(none.at("/cuda/remedy").asText()).startsWith("install");
    assertThat(none.at("/cuda/devices")).isEmpty();
    assertThat(none.at("/nvml/reason").asText()).contains("libcudart.so.13");
    assertThat(none.at("/environment/CUDA_VISIBLE_DEVICES").isNull()).isTrue();
    assertThat(none.at("/auto/device").asText()).isEqualTo("cpu");
    assertThat(none.at("/auto/reason").asText()).startsWith("there is no NVIDIA driver");
    assertThat(none.at("/verdict").asText()).isEqualTo("Kvasir can run here, on the CPU");
    assertThat(none.at("/nativeLibrary/path").asText()).isEqualTo("/lib/x.so");

    JsonNode some = json(run(FakeMachine.withGpus(), "doctor --format json"));
    assertThat(some.at("/cuda/version").asText()).isEqualTo("13.0");
    assertThat(some.at("/cuda/devices")).hasSize(3);
    assertThat(some.at("/cuda/devices/0/freeBytes").asLong()).isEqualTo(40L << 30);
    assertThat(some.at("/cuda/devices/0/nvml/utilizationPercent").asInt()).isEqualTo(37);
    assertThat(some.at("/cuda/devices/0/peers/0/topology").asText()).isEqualTo("host bridge");
    assertThat(some.at("/cuda/devices/1/freeBytes").isNull()).isTrue();
    assertThat(some.at("/cuda/devices/1/numaNode").isNull()).isTrue();
    assertThat(some.at("/cuda/devices/1/migInstance").asBoolean()).isTrue();
    assertThat(some.at("/cuda/devices/2/usable").asBoolean()).isFalse();
    assertThat(some.at("/cuda/devices/2/nvml").isNull()).isTrue();
    assertThat(some.at("/kernelModule/architectures")).hasSize(2);
    assertThat(some.at("/auto/device").asText()).isEqualTo("cuda");
    assertThat(some.at("/auto/ordinals").toString()).isEqualTo("[0,1]");
  }

  @Test
  void cudaIsRefusedInOneLineWithReasonAndRemedy() {
    Outcome none = run(FakeMachine.withoutGpu(), SMALL + " --device cuda");
    assertThat(none.exitCode()).isEqualTo(2);
    assertThat(none.out()).isEmpty();
    assertThat(none.err())
        .isEqualTo(
            "--device cuda is not possible: there is no NVIDIA driver: libcuda.so.1 cannot be"
                + " loaded; install the NVIDIA driver; in a container, pass the GPUs in (--gpus"
                + " all)\n");

    assertThat(run(FakeMachine.withGpus(), SMALL + " --device cuda:0,1").err())
        .isEqualTo("--device cuda:0,1 is not possible: CUDA device 0 (NVIDIA H100) is lost: ECC\n");
    assertThat(run(FakeMachine.withGpus(), SMALL + " --device cuda:4").err())
        .isEqualTo(
            "--device cuda:4 is not possible: there is no CUDA device 4; devices are 0 to 2\n");
    assertThat(run(FakeMachine.withGpus(), SMALL + " --device gpu").err())
        .isEqualTo(
            "--device must be auto, cpu, cuda or cuda:0,1,... with each device once, not 'gpu'\n");
  }

  @Test
  void autoSaysWhyItTakesTheCpuWhenAskedOrWhenAGpuStaysIdle() {
    String lost = "--device auto uses the CPU: CUDA device 0 (NVIDIA H100) is lost: ECC\n";

    assertThat(run(FakeMachine.withoutGpu(), SMALL).err()).isEmpty();
    assertThat(run(FakeMachine.withoutGpu(), SMALL + " --device auto").err())
        .isEqualTo(
            "--device auto uses the CPU: there is no NVIDIA driver: libcuda.so.1 cannot be"
                + " loaded\n");
    assertThat(run(FakeMachine.withGpus(), SMALL).err()).isEqualTo(lost);
    assertThat(run(FakeMachine.withGpus(), SMALL + " --device auto").err()).isEqualTo(lost);
    assertThat(run(FakeMachine.withGpus(), SMALL + " --device cpu").err()).isEmpty();
  }

  @Test
  void poolsAreSizedByTheMemoryTheyMayTake() throws IOException {
    String model = " --num-hidden-layers 2 --num-key-value-heads 4 --head-dim 8";
    // 2 x 2 x 4 x 8 x 2 bytes of KV for a token.
    Outcome sized = run(Machine.local(), SMALL + " --kv-cache-memory-bytes 2000000" + model);

    assertThat(sized.err()).isEmpty();
    assertThat(json(sized).findValue("poolTokens").asInt()).isEqualTo(2_000_000 / 256);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--head-dim 8 | --num-hidden-layers must be given together with the model's other"
            + " dimensions",
        "--kv-bytes-per-token 8 --head-dim 8 | --kv-bytes-per-token must not be given together with"
            + " the model's dimensions",
        "--kv-bytes-per-token -1 | --kv-bytes-per-token must be an integer from 0 to 1073741824,"
            + " not '-1'",
        "--kv-cache-memory-bytes 5 | --kv-cache-memory-bytes needs the KV of a token, and excludes"
            + " --kv-cache-free-gpu-memory-fraction",
        "--kv-cache-memory-bytes 5 --kv-bytes-per-token 8 | --kv-cache-memory-bytes must be an"
            + " integer from 256 to 17179869176, not '5'",
        "--kv-cache-memory-bytes 255 --kv-bytes-per-token 8 | --kv-cache-memory-bytes must be an"
            + " integer from 256 to 17179869176, not '255'",
        "--kv-cache-dtype bf8 | --kv-cache-dtype must be one of bf16, fp16, fp8, int8, fp32, not"
            + " 'bf8'",
        "--kv-cache-free-gpu-memory-fraction 0.5 --device cpu |"
            + " --kv-cache-free-gpu-memory-fraction needs pools on a GPU: --device cuda",
      })
  void wrongSizesSayWhatIsAllowed(String options, String message) {
    Outcome outcome = run(FakeMachine.withoutGpu(), SMALL + " " + options);

    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).isEqualTo(message + "\n");
  }

  @Test
  void reportsAreTheSameWhereverTheyWereAskedFor() {
    String cpu = report(run(FakeMachine.withoutGpu(), SMALL + " --device cpu"));

    assertThat(cpu).contains("\"router\"");
    assertThat(report(run(FakeMachine.withoutGpu(), SMALL + " --device auto"))).isEqualTo(cpu);
    assertThat(report(run(FakeMachine.withGpus(), SMALL))).isEqualTo(cpu);
  }

  private static String report(Outcome outcome) {
    assertThat(outcome.exitCode()).isZero();
    return outcome.out().replaceAll("\"wallSeconds\": [0-9.]+", "");
  }

  private static JsonNode json(Outcome outcome) throws IOException {
    return new ObjectMapper().readTree(outcome.out());
  }

  private static Outcome run(Machine machine, String line) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream errors = new PrintStream(err, true, StandardCharsets.UTF_8);
    Console console = new Console(InputStream.nullInputStream(), out, errors, false, Map.of());
    int exitCode = new CommandRunner(console, machine).run(line.split(" "));
    return new Outcome(
        exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void aProcessOfALauncherTakesTheGpuOfItsLocalRank(@TempDir Path folder) throws Exception {
    Path secret = folder.resolve("secret");
    Files.writeString(secret, "0123456789abcdef".repeat(4) + "\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    try (ReservedPort port = new ReservedPort()) {
      assertProcessesTakeGpus(
          SMALL
              + " --collective tcp --rank 0 --world-size 1 --master-addr 127.0.0.1 --secret-file "
              + secret
              + " --master-port "
              + port.number(),
          secret);
    }
  }

  private static void assertProcessesTakeGpus(String launch, Path secret) throws IOException {
    assertThat(run(FakeMachine.withGpus(), launch + " --local-rank 1 --device cuda:local").err())
        .contains("CUDA device 1 (NVIDIA H100 MIG 1g) is lost");
    assertThat(run(FakeMachine.withGpus(), launch + " --local-rank 3 --device cuda:local").err())
        .contains("CUDA device 0 (NVIDIA H100) is lost");
    assertThat(run(FakeMachine.withoutGpu(), launch + " --device cuda:local").err())
        .startsWith("--device cuda is not possible: ");
    assertThat(run(FakeMachine.withGpus(), SMALL + " --device cuda:local").err())
        .isEqualTo("--device cuda:local needs --collective\n");

    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-r-----"));
    assertThat(run(FakeMachine.withoutGpu(), launch).err())
        .isEqualTo(
            "--secret-file "
                + secret
                + " must be readable by its owner only (chmod 600 "
                + secret
                + ")\n");
  }
}
