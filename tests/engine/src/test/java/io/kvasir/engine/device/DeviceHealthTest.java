package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DeviceHealthTest {

  private static final CudaDevice FIRST = FakeCuda.device(0, 9, 0);
  private static final CudaDevice SECOND = FakeCuda.device(1, 9, 0);

  private final SickNvml nvml = new SickNvml();
  private final DeviceHealth health = nvml.watch(List.of(FIRST, SECOND));

  private void rounds(int count) {
    for (int i = 0; i < count; i++) {
      SickNvml.poll(health);
    }
  }

  @Test
  void nothingIsKnownAgainstHealthyDevices() {
    rounds(3);
    assertThat(health.problems()).isZero();
    assertThat(health.problem(FIRST)).isEmpty();
  }

  @Test
  void brokenHardwareIsAProblemOfItsDeviceAndFaultyProgramsAreNot() {
    nvml.tell(FIRST, 13);
    nvml.tell(SECOND, 43);
    nvml.tell(SECOND, 79);
    rounds(1);
    assertThat(health.problems()).isZero();
    rounds(1);
    assertThat(health.problems()).isOne();
    assertThat(health.problem(FIRST)).isEmpty();
    assertThat(health.problem(SECOND)).hasValue("the driver reports XID 79");
  }

  @Test
  void onlyNewUncorrectedErrorsOfMemoryAreAProblem() {
    rounds(1);
    for (int i = 0; i < 4; i++) {
      nvml.addEccError(FIRST);
    }
    rounds(1);
    assertThat(health.problem(FIRST)).hasValue("memory errors that could not be corrected: 4");
    assertThat(health.problem(SECOND)).isEmpty();
  }

  @Test
  void aFailureOfTheBindingIsAProblemOfOneDeviceOnly() {
    nvml.breakBinding(FIRST);
    nvml.tell(SECOND, 79);
    rounds(1);
    assertThat(health.problem(FIRST)).hasValue("NVML cannot read its state: not an NVML error");
    assertThat(health.problem(SECOND)).hasValue("the driver reports XID 79");
  }

  @Test
  void aDeviceThatIsGoneIsAProblemAndIsNotAskedAgain() {
    nvml.loseDevice(FIRST);
    rounds(1);
    assertThat(health.problem(FIRST))
        .hasValue(
            "NVML cannot read its state: nvmlDeviceGetHandleByPciBusId failed: GPU is lost (15)");
    assertThat(nvml.openEvents).isOne();
    int questions = nvml.questions;
    rounds(5);
    assertThat(nvml.questions).isEqualTo(questions + 5);
    assertThat(health.problems()).isOne();
  }
}
