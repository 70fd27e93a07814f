package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.device.ShimDevice.Call;
import org.junit.jupiter.api.Test;

class PinnedBufferTest {

  private final ShimDevice device = ShimDevice.of(1000);
  private final PinnedBuffer buffer = new PinnedBuffer(device, 16);

  @Test
  void growsWhenItMust() {
    buffer.room(16).putLong(8, 7);
    assertThat(buffer.room(1).getLong(8)).isEqualTo(7);
    assertThat(buffer.room(17).capacity()).isEqualTo(32);
    assertThat(buffer.room(1000).capacity()).isEqualTo(1000);
    buffer.room(1000).putInt(996, 1);
    assertThat(device.count(Call.ALLOCATE_PINNED)).isEqualTo(3);
    buffer.close();
    buffer.close();
    device.close();
  }

  @Test
  void staysAsItWasWhenItCannotGrow() {
    long address = buffer.address();
    device.failAt(Call.ALLOCATE_PINNED, 1, 2);
    assertThatThrownBy(() -> buffer.room(17)).isInstanceOf(DeviceOutOfMemoryException.class);
    assertThatThrownBy(() -> buffer.room(1L << 31)).isInstanceOf(IllegalArgumentException.class);
    assertThat(buffer.address()).isEqualTo(address);
    assertThat(buffer.room(16).capacity()).isEqualTo(16);
    buffer.close();
    device.close();
  }

  @Test
  void closesQuietlyOnALostDevice() {
    device.failAt(Call.FREE_PINNED, 1, 719);
    buffer.close();
    assertThatThrownBy(() -> buffer.room(1)).isInstanceOf(IllegalStateException.class);
  }
}
