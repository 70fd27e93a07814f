package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;

/** All memory that a {@link ShimDevice} can use. Confined to the device's lock. */
final class ShimHeap implements ShimReach.Memory {

  private static final int PAGE = 4096;

  private final ShimMemory device = new ShimMemory("device memory", 256);
  private final ShimMemory pageLocked = new ShimMemory("page-locked memory", PAGE);

  /** The device's own memory. */
  ShimMemory device() {
    return device;
  }

  /** Memory of the host that was allocated page-locked. */
  ShimMemory pageLocked() {
    return pageLocked;
  }

  /** Fails if something was written outside of the memory that is allocated now. */
  void assertGuarded() {
    device.assertGuarded();
    pageLocked.assertGuarded();
  }

  /** Fails if something was not given back. */
  void assertAllGivenBack() {
    device.assertAllGivenBack();
    pageLocked.assertAllGivenBack();
  }

  /** Fails if the device cannot use a range. */
  void requireKnown(long address, long bytes) {
    boolean known = device.contains(address, bytes) || pageLocked.contains(address, bytes);
    assertThat(known).as(bytes + " bytes of the device's at " + address).isTrue();
  }

  @Override
  public long startOf(long address) {
    return device.startOf(address) + pageLocked.startOf(address);
  }

  @Override
  public ByteBuffer at(long start) {
    return device.startOf(start) != 0 ? device.at(start) : pageLocked.at(start);
  }

  static ByteBuffer view(long address, long bytes) {
    return NativeMemory.view(address, Math.toIntExact(bytes));
  }
}
