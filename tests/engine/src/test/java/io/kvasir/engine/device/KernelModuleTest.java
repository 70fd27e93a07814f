package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.internal.nativelib.PoolLibrary;
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
    KernelModule module = new KernelModule(1, List.of("sm_86", "sm_90"), "13.0", 1);

    assertThat(module.obstacle(FakeCuda.device(0, 8, 0), 13000)).as("sm_86 on sm_80").isPresent();
    assertThat(module.obstacle(FakeCuda.device(0, 8, 9), 13000)).isEmpty();
    assertThat(module.obstacle(FakeCuda.device(3, 10, 0), 13000).orElseThrow().reason())
        .isEqualTo(
            "the kernels of this build (sm_86, sm_90) do not run on device 3, GPU 3 (sm_100)");
  }

  @Test
  void theDriverMustBeOfTheCompilersMajorVersion() {
    CudaDevice device = FakeCuda.device(0, 9, 0);

    assertThat(FakeCuda.KERNELS.obstacle(device, 12090).orElseThrow().reason())
        .isEqualTo("the driver is too old: it supports CUDA 12.9, the kernels need CUDA 13");
    assertThat(FakeCuda.KERNELS.obstacle(device, 13020)).isEmpty();
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
