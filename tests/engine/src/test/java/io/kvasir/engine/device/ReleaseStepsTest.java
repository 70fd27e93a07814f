package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReleaseStepsTest {

  private static final int OUT_OF_MEMORY = 2;
  private static final int ILLEGAL_ADDRESS = 700;

  private final List<String> done = new ArrayList<>();
  private final ShimDevice device = ShimDevice.of(1000);
  private final DeviceApi.Stream stream = device.openStream(false);

  private List<String> release() {
    long memory = device.allocate(8);
    device.fill(stream, memory, (byte) 1, 8);
    ReleaseSteps.onceIdle(
        device, stream, List.of(() -> device.free(memory), () -> done.add("released")));
    return done;
  }

  @Test
  void memoryIsReleasedWhenTheWorkHasEnded() {
    assertThat(release()).containsExactly("released");
    assertThat(device.freeBytes()).isEqualTo(1000);
  }

  @Test
  void aWaitThatIsRefusedForAMomentIsRepeated() {
    device.failAt(ShimCall.TRY_SYNCHRONIZE, 1, OUT_OF_MEMORY);
    device.failAt(ShimCall.TRY_SYNCHRONIZE, 2, OUT_OF_MEMORY);
    assertThat(release()).containsExactly("released");
  }

  @Test
  void withoutAWaitNothingIsReleased() {
    for (int nth = 1; nth <= 3; nth++) {
      device.failAt(ShimCall.TRY_SYNCHRONIZE, nth, OUT_OF_MEMORY);
    }
    assertThat(release()).isEmpty();
    assertThat(device.count(ShimCall.TRY_SYNCHRONIZE)).isEqualTo(3);
  }

  @Test
  void aLostDeviceReleasesNothing() {
    device.failAt(ShimCall.TRY_SYNCHRONIZE, 1, ILLEGAL_ADDRESS);
    assertThat(release()).isEmpty();
    assertThat(device.count(ShimCall.TRY_SYNCHRONIZE)).isEqualTo(1);
  }

  @Test
  void aDeviceThatHangsReleasesNothing() {
    device.hang();
    assertThat(release()).isEmpty();
  }
}
