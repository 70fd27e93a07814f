package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.device.DeviceApi.Event;
import io.kvasir.engine.device.DeviceApi.Stream;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.internal.nativelib.PoolLibrary;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ShimDeviceTest {

  private static final int LOST = 719;

  private final ShimDevice device = ShimDevice.of(1000);
  private Stream stream;
  private long filled;

  @Test
  void copiesFillsAndRunsKernels() {
    for (long seed = 0; seed < 50; seed++) {
      ShimDevice late = ShimDevice.of(1000, seed);
      long[] memory = {late.allocate(8), late.allocatePinned(8)};
      Stream stream = late.openStream(true);
      late.fill(stream, memory[0], (byte) 3, 8);
      KernelArguments arguments = KernelArguments.words(1).set(0, memory[0]);
      late.launch(stream, late.kernel("kvasir_module_abi"), 1, 32, arguments);
      arguments.set(0, 0L);
      late.copy(stream, memory[1], memory[0], 8);
      late.synchronize(stream);
      ByteBuffer words = NativeMemory.view(memory[1], 8);
      assertThat(words.getInt(0)).isEqualTo(PoolLibrary.kvasir_abi_version());
      assertThat(words.getInt(4)).isEqualTo(0x03030303);
      late.closeStream(stream);
      late.free(memory[0]);
      late.freePinned(memory[1]);
      assertThat(late.count(ShimCall.LAUNCH)).isEqualTo(1);
      late.close();
    }
  }

  @Test
  void workThatNobodyWaitedForMayBeUndone() {
    int undone = 0;
    for (long seed = 0; seed < 50; seed++) {
      ShimDevice late = ShimDevice.of(1000, seed);
      long memory = late.allocate(1);
      late.fill(late.openStream(false), memory, (byte) 3, 1);
      late.freeBytes();
      undone += NativeMemory.view(memory, 1).get(0) == 3 ? 0 : 1;
    }
    assertThat(undone).isBetween(1, 49);
  }

  @Test
  void workOfOneStreamOvertakesThatOfAnother() {
    Set<Byte> last = new HashSet<>();
    for (long seed = 0; seed < 50; seed++) {
      ShimDevice late = ShimDevice.of(1000, seed);
      long memory = late.allocate(1);
      Stream[] streams = {late.openStream(false), late.openStream(false)};
      late.fill(streams[0], memory, (byte) 1, 1);
      late.fill(streams[1], memory, (byte) 2, 1);
      late.fill(streams[1], memory, (byte) 2, 1);
      late.synchronize(streams[0]);
      late.synchronize(streams[1]);
      last.add(NativeMemory.view(memory, 1).get(0));
    }
    assertThat(last).containsExactlyInAnyOrder((byte) 1, (byte) 2);
  }

  @Test
  void aStreamThatHasWorkMustNotBeClosed() {
    ShimDevice late = withPendingFill();
    assertThatThrownBy(() -> late.closeStream(stream))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("pending work of a closed stream; device seed ");
    late.synchronize(stream);
    assertThatCode(() -> late.closeStream(stream)).doesNotThrowAnyException();
  }

  @Test
  void memoryThatPendingWorkMayUseMustNotBeFreed() {
    ShimDevice late = withPendingFill();
    long other = late.allocate(8);
    assertThatThrownBy(() -> late.free(filled))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("pending work may use the device memory that is freed; device seed ");
    assertThatCode(() -> late.free(other)).doesNotThrowAnyException();
  }

  @Test
  void memoryIsInUseEvenIfOnlyOtherMemoryPointsThere() {
    ShimDevice late = withPendingFill();
    long pinned = late.allocatePinned(16);
    NativeMemory.view(filled, 16).putLong(8, pinned + 15);
    assertThatThrownBy(() -> late.freePinned(pinned))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("the page-locked memory that is freed");
    late.synchronize(stream);
    assertThatCode(() -> late.freePinned(pinned)).doesNotThrowAnyException();
  }

  @Test
  void aDeviceThatHangsIsNotWaitedForForEver() {
    ShimDevice late = withPendingFill();
    DeviceApi.Stream other = late.openStream(false);
    assertThat(late.trySynchronize(other, 0)).isTrue();
    late.hang();
    assertThatThrownBy(() -> late.synchronize(stream)).hasMessageContaining("does not respond");
    assertThat(late.trySynchronize(stream, 0)).isFalse();
    assertThat(late.trySynchronize(other, 0)).isFalse();
    assertThatThrownBy(late::freeBytes).hasMessageContaining("does not respond");
  }

  /** A device with a fill of {@code filled} that waits on {@code stream}. */
  private ShimDevice withPendingFill() {
    for (long seed = 0; ; seed++) {
      ShimDevice late = ShimDevice.of(1000, seed);
      filled = late.allocate(16);
      stream = late.openStream(false);
      late.fill(stream, filled, (byte) 3, 8);
      late.freeBytes();
      if (late.pending() == 1) {
        return late;
      }
    }
  }

  @Test
  void aStreamWaitsForAMarkOfAnother() {
    for (long seed = 0; seed < 50; seed++) {
      ShimDevice late = ShimDevice.of(1000, seed);
      long memory = late.allocate(2);
      Stream first = late.openStream(false);
      Stream second = late.openStream(false);
      Event event = late.openEvent(true);
      late.fill(first, memory, (byte) 3, 1);
      late.record(first, event);
      late.await(second, event);
      late.copy(second, memory + 1, memory, 1);
      late.synchronize(second);
      assertThat(NativeMemory.view(memory, 2).get(1)).isEqualTo((byte) 3);
      assertThat(late.elapsedNs(event, event)).isZero();
    }
  }

  @Test
  void findsWhatIsWrittenBesideMemory() {
    for (int offset : new int[] {-1, 10}) {
      long memory = device.allocate(10);
      NativeMemory.view(memory + offset, 1).put(0, (byte) 0);
      assertThatThrownBy(device::assertGuarded).isInstanceOf(AssertionError.class);
      assertThatThrownBy(() -> device.free(memory))
          .hasMessageContaining("byte " + offset + " of 10 of device memory");
    }
  }

  @Test
  void findsWhatIsNotGivenBack() {
    assertThatCode(device::close).doesNotThrowAnyException();
    Stream stream = device.openStream(false);
    assertThatThrownBy(device::close).hasMessageContaining("streams");
    device.closeStream(stream);
    device.allocatePinned(10);
    assertThatThrownBy(device::close).hasMessageContaining("page-locked memory");
  }

  @Test
  void refusesToCopyForeignMemory() {
    Stream stream = device.openStream(false);
    long memory = device.allocate(10);
    assertThatThrownBy(() -> device.copy(stream, memory, memory + 8, 4))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void hasOnlySoMuchMemory() {
    device.allocate(600);
    assertThatThrownBy(() -> device.allocate(401))
        .isInstanceOf(DeviceOutOfMemoryException.class)
        .hasMessageContaining("401 bytes were wanted, 400 are free");
    assertThat(device.freeBytes()).isEqualTo(400);
  }

  @Test
  void failsWhereItIsTold() {
    Stream stream = device.openStream(false);
    device.failAt(ShimCall.SYNCHRONIZE, 2, 600);
    device.synchronize(stream);
    assertThatThrownBy(() -> device.synchronize(stream))
        .isInstanceOf(RetryableDeviceException.class);
    device.synchronize(stream);
    device.failAt(ShimCall.SYNCHRONIZE, 1, LOST);
    assertThatThrownBy(() -> device.synchronize(stream)).isInstanceOf(FatalDeviceException.class);
    assertThatThrownBy(() -> device.allocate(1)).isInstanceOf(FatalDeviceException.class);
    assertThatCode(device::close).doesNotThrowAnyException();
  }
}
