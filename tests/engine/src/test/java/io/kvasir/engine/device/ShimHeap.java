package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;

/** All memory that a {@link ShimDevice} can use. Confined to the device's lock. */
final class ShimHeap implements ShimReach.Memory {

  private static final int PAGE = 4096;

  private final ShimMemory device = new ShimMemory("device memory", 256);
  private final ShimMemory pageLocked = new ShimMemory("page-locked memory", PAGE);

  /** Bytes of others that are pinned, by address. */
  private final TreeMap<Long, Long> foreign = new TreeMap<>();

  /** The device's own memory. */
  ShimMemory device() {
    return device;
  }

  /** Memory of the host that was allocated page-locked. */
  ShimMemory pageLocked() {
    return pageLocked;
  }

  void pin(long address, long bytes) {
    assertThat(address % PAGE).as("offset in a page").isZero();
    assertThat(foreign.put(address, bytes)).as("bytes pinned there already").isNull();
  }

  void unpin(long address) {
    assertThat(foreign.remove(address)).as("bytes pinned at " + address).isNotNull();
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
    assertThat(foreign).as("pinned memory of others").isEmpty();
  }

  /** Fails if the device cannot use a range. */
  void requireKnown(long address, long bytes) {
    boolean known =
        device.contains(address, bytes)
            || pageLocked.contains(address, bytes)
            || foreign.entrySet().stream()
                .anyMatch(
                    piece ->
                        address >= piece.getKey()
                            && address + bytes <= piece.getKey() + piece.getValue());
    assertThat(known).as(bytes + " bytes of the device's at " + address).isTrue();
  }

  @Override
  public long startOf(long address) {
    long start = device.startOf(address) + pageLocked.startOf(address);
    Map.Entry<Long, Long> below = foreign.floorEntry(address);
    boolean inside = below != null && address < below.getKey() + below.getValue();
    return inside ? below.getKey() : start;
  }

  @Override
  public ByteBuffer at(long start) {
    if (foreign.containsKey(start)) {
      return view(start, foreign.get(start));
    }
    return device.startOf(start) != 0 ? device.at(start) : pageLocked.at(start);
  }

  static ByteBuffer view(long address, long bytes) {
    return NativeMemory.view(address, Math.toIntExact(bytes));
  }
}
