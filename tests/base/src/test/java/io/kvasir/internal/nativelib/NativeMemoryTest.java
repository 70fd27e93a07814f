package io.kvasir.internal.nativelib;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class NativeMemoryTest {

  @Test
  void aViewIsOfTheSameMemoryAndEndsWhereItShould() {
    ByteBuffer owned = NativeMemory.allocate(100);
    ByteBuffer view = NativeMemory.view(NativeMemory.address(owned) + 20, 10);
    owned.putLong(21, 0x1122334455667788L);
    assertThat(view.getLong(1)).isEqualTo(0x1122334455667788L);
    assertThat(view.capacity()).isEqualTo(10);
    assertThat(view.limit()).isEqualTo(10);
  }
}
