package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.internal.nativelib.PoolLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class KernelModuleTest {

  private static final int OUT_OF_MEMORY = 2;

  @ParameterizedTest
  @CsvSource({
    "7, 5, false",
    "8, 0, true",
    "8, 9, true",
    "9, 0, true",
    "10, 0, true",
    "12, 1, true",
  })
  void machineCodeRunsWithinItsGenerationAndPtxUpwards(int major, int minor, boolean runs) {
    CudaDevice device = FakeCuda.device(0, major, minor);

    assertThat(FakeCuda.KERNELS.obstacle(device, 13000).isEmpty()).isEqualTo(runs);
  }

  @Test
  void withoutPtxNewerGenerationsAreForeign() {
    KernelModule module = new KernelModule(1, List.of("sm_86", "sm_90"), "13.0", 1, "compute_86");

    assertThat(module.obstacle(FakeCuda.device(0, 8, 0), 13000)).as("sm_86 on sm_80").isPresent();
    assertThat(module.obstacle(FakeCuda.device(0, 8, 9), 13000)).isEmpty();
    assertThat(module.obstacle(FakeCuda.device(3, 10, 0), 13000).orElseThrow().reason())
        .isEqualTo(
            "the kernels of this build (sm_86, sm_90) do not run on device 3, GPU 3 (sm_100)");
  }

  @Test
  void anOlderDriverTakesThePtxThatIsMadeForIt() {
    CudaDevice device = FakeCuda.device(0, 9, 0);
    KernelModule newer = new KernelModule(1, List.of("sm_80"), "13.0", 1, "compute_90");

    assertThat(newer.obstacle(device, 12090)).isEmpty();
    assertThat(newer.obstacle(device, 13020)).as("sm_80 on sm_90").isPresent();
    assertThat(newer.obstacle(FakeCuda.device(0, 8, 0), 11000).orElseThrow().reason())
        .isEqualTo("the kernels of this build (compute_90) do not run on device 0, GPU 0 (sm_80)");
    assertThat(newer.obstacle(device, 10020).orElseThrow().reason())
        .isEqualTo("the driver is too old: it supports CUDA 10.2, the kernels need CUDA 11.0");
  }

  /** The parts of a module: PTX (1) and machine code (2), each with its architecture. */
  private static List<String> parts(ByteBuffer module) {
    assertThat(module.getInt(0)).as("magic").isEqualTo(0xBA55ED50);
    List<String> parts = new ArrayList<>();
    int at = module.getShort(6);
    while (at < module.limit()) {
      int kind = module.getShort(at);
      parts.add((kind == 1 ? "compute_" : "sm_") + module.getInt(at + 28));
      at += module.getInt(at + 4) + (int) module.getLong(at + 8);
    }
    return parts;
  }

  @Test
  void theFilesOfThisBuildAreWhatTheirDescriptionSays() throws IOException {
    KernelModule module = KernelModule.embedded().orElse(null);
    assumeTrue(module != null, "this build has no GPU kernels: nvcc was missing");
    try (InputStream fatbin = KernelModule.class.getResourceAsStream("kvasir.fatbin");
        InputStream text = KernelModule.class.getResourceAsStream("kvasir.ptx")) {
      ByteBuffer bytes = ByteBuffer.wrap(fatbin.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
      assertThat(parts(bytes)).containsExactlyInAnyOrderElementsOf(module.architectures());
      String ptx = new String(text.readAllBytes(), StandardCharsets.US_ASCII);
      // PTX 7.0 came with CUDA 11.0, 8.0 with 12.0.
      int oldest = KernelModule.OLDEST_DRIVER;
      String version = (oldest / 1000 - 4) + "." + oldest % 1000 / 10;
      assertThat(ptx)
          .contains(
              "\n.version " + version + "\n",
              "\n.target sm_" + module.ptxArchitecture().substring(8))
          .contains(".entry kvasir_module_abi(", ".entry kvasir_pool_submission(")
          .doesNotContain("used_bytes_mask");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OPEN_STREAM", "KERNEL", "LAUNCH", "SYNCHRONIZE"})
  void aCheckOfTheVersionThatIsRefusedLeavesNothingBehind(ShimCall call) {
    for (long seed = 0; seed < 20; seed++) {
      try (ShimDevice device = ShimDevice.of(1 << 20, seed)) {
        KernelModule.requireAbi(device, PoolLibrary.kvasir_abi_version());
        device.failAt(call, 1, OUT_OF_MEMORY);
        assertThatThrownBy(() -> KernelModule.requireAbi(device, PoolLibrary.kvasir_abi_version()))
            .isInstanceOf(RetryableDeviceException.class);
      }
    }
  }

  @Test
  void theModuleOfThisBuildFitsItsLibrary() {
    Optional<KernelModule> module = KernelModule.embedded();
    NativeLibrary library = NativeLibrary.load();

    assertThat(library.unavailability()).isEmpty();
    assertThat(library.path()).isPresent();
    module.ifPresent(
        kernels -> {
          assertThat(kernels.abi()).isEqualTo(library.abi().orElseThrow());
          assertThat(kernels.bytes()).isPositive();
          assertThat(kernels.architectures()).contains("sm_80", "sm_90", "sm_100", "sm_120");
          assertThat(kernels.obstacle(FakeCuda.device(0, 12, 1), 99000)).isEmpty();
        });
  }
}
