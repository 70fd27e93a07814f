package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.internal.nativelib.PoolLibrary;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ShimLibraryTest {

  private static final String DIVERGING_KERNEL = "shim_diverging_kernel";

  /** Of tests/native/kv_stamp.cu. */
  private static final String STAMP_KERNEL = "kvasir_kv_stamp";

  private static final Pattern KERNEL =
      Pattern.compile("\"C\"\\s+__global__\\s+void\\s+(?:__launch_bounds__\\([^)]*\\)\\s+)?(\\w+)");

  @Test
  void knowsEveryKernelOfTheModule() throws IOException {
    List<String> written = new ArrayList<>(List.of(DIVERGING_KERNEL, STAMP_KERNEL));
    try (Stream<Path> sources =
        Files.list(Path.of(System.getProperty("kvasir.root"), "native", "src", "cuda"))) {
      for (Path source : sources.toList()) {
        String text = Files.readString(source);
        KERNEL
            .matcher(text)
            .results()
            .map((MatchResult found) -> found.group(1))
            .forEach(written::add);
        assertThat(KERNEL.matcher(text).results())
            .as("kernels of " + source)
            .hasSize(text.split("__global__", -1).length - 1);
      }
    }
    assertThat(ShimLibrary.kernels()).containsExactlyInAnyOrderElementsOf(written);
  }

  @Test
  void runsAKernel() {
    runsModuleAbi();
    Throwable[] failure = new Throwable[1];
    Thread other = new Thread(ShimLibraryTest::runsModuleAbi);
    other.setUncaughtExceptionHandler((thread, thrown) -> failure[0] = thrown);
    other.start();
    Await.end(other);
    assertThat(failure[0]).isNull();
  }

  @Test
  void refusesAnUnknownKernel() {
    assertThat(ShimLibrary.launch("kvasir_nothing", 1, 32, 0)).isEqualTo(98);
  }

  @Test
  void aFailedCheckIsThrownAndLeavesTheLibraryUsable() {
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> ShimLibrary.launch(DIVERGING_KERNEL, 2, 64, 0))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("CHECK(");
      assertThatThrownBy(() -> ShimLibrary.launch(DIVERGING_KERNEL, 1, 33, 0))
          .hasMessageContaining("threads % 32");
      runsModuleAbi();
    }
  }

  private static void runsModuleAbi() {
    ByteBuffer version = NativeMemory.allocate(Integer.BYTES);
    ByteBuffer parameter = NativeMemory.allocate(Long.BYTES);
    ByteBuffer parameters = NativeMemory.allocate(Long.BYTES);
    parameter.putLong(0, NativeMemory.address(version));
    parameters.putLong(0, NativeMemory.address(parameter));
    try {
      assertThat(ShimLibrary.launch("kvasir_module_abi", 1, 32, NativeMemory.address(parameters)))
          .isZero();
    } finally {
      Reference.reachabilityFence(parameter);
      Reference.reachabilityFence(parameters);
    }
    assertThat(version.getInt(0)).isEqualTo(PoolLibrary.kvasir_abi_version());
  }
}
