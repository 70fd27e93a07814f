package io.kvasir.engine.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.device.FakeDriver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The real binding to the CUDA driver, over a driver without a device. */
class FakeDriverTest {

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"device", "history", "memory"})
  void theBindingWorksAndGivesEverythingBack(String what) throws Exception {
    assertWell(Map.of(), what);
  }

  @Test
  void anErrorThatSticksEndsThePoolInGoodOrder() throws Exception {
    assertWell(Map.of("KVASIR_FAKE_CUDA_FAULT", "cuLaunchKernel:60:700"), "lose");
  }

  private void assertWell(Map<String, String> faults, String what)
      throws IOException, InterruptedException {
    FakeDriver.Result result = FakeDriver.run(folder, faults, FakeDriverProcess.class, what);
    assertThat(result.output()).as(result.errors()).isEqualTo("OK\n");
    assertThat(result.exitCode()).isZero();
    assertThat(result.errors()).doesNotContain("fake CUDA driver");
  }
}
