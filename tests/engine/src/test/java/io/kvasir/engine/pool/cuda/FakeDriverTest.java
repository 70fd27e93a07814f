package io.kvasir.engine.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.kvasir.testing.device.FakeDriver;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The real binding to the CUDA driver, over a driver without a device. */
@Tag("process")
@Tag("jdk")
class FakeDriverTest {

  private final long seed = Long.getLong("kvasir.test.seed", System.nanoTime());

  @ParameterizedTest
  @ValueSource(strings = {"device", "history", "memory", "close", "context"})
  void theBindingWorksAndGivesEverythingBack(String what) throws Exception {
    assertWell(Map.of(), what);
  }

  /** What nvcc made of the kernels, interpreted. */
  @Test
  void historiesOnThePtxOfTheKernelsEqualTheNaivePool() throws Exception {
    assumeThat(FakeDriver.hasPtx()).as("the build found an nvcc").isTrue();
    assertWell(Map.of("KVASIR_TEST_DEVICE", "ptx"), "history");
  }

  @Test
  void anErrorThatSticksEndsThePoolInGoodOrder() throws Exception {
    assertWell(Map.of("KVASIR_FAKE_CUDA_FAULT", "cuLaunchKernel:60:700"), "lose");
  }

  @Test
  void aDeviceThatHangsIsClosedAllTheSame() throws Exception {
    assertWell(Map.of("KVASIR_FAKE_CUDA_HANG", "40"), "hang");
  }

  @Test
  void aPoolOnADeviceThatHangsIsLost() throws Exception {
    assertWell(Map.of("KVASIR_FAKE_CUDA_HANG", "20"), "wait");
  }

  /** The driver must find the mistakes that it is there to find. */
  @ParameterizedTest
  @CsvSource({
    "closeStream, a stream is destroyed with work pending",
    "free, device memory is freed that pending work may use",
    "freePinned, page-locked memory is freed that pending work may use",
    "freePointedTo, page-locked memory is freed that pending work may use",
    "unload, the module is unloaded with work pending"
  })
  void releasingWhatPendingWorkUsesEndsTheProcess(String mistake, String message)
      throws IOException {
    FakeDriver.Result result = run(Map.of("KVASIR_FAKE_CUDA_HANG", "2"), mistake);
    assertThat(result.exitCode()).as(result.errors()).isEqualTo(70);
    assertThat(result.errors()).contains("fake CUDA driver: " + message + ", seed ");
  }

  private void assertWell(Map<String, String> faults, String what) throws IOException {
    FakeDriver.Result result = run(faults, what);
    assertThat(result.output()).as("seed %d: %s", seed, result.errors()).isEqualTo("OK\n");
    assertThat(result.exitCode()).isZero();
    assertThat(result.errors()).doesNotContain("fake CUDA driver");
  }

  private FakeDriver.Result run(Map<String, String> faults, String what) throws IOException {
    Map<String, String> variables = new HashMap<>(faults);
    variables.put("KVASIR_FAKE_CUDA_SEED", Long.toString(seed));
    return FakeDriver.run(variables, FakeDriverProcess.class, what);
  }
}
