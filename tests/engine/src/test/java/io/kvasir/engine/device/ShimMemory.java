package io.kvasir.engine.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** Memory that was never zero, between guards that show writes outside of it. */
final class ShimMemory {

  private static final byte UNWRITTEN = (byte) 0xa5;
  private static final byte GUARD = 0x5c;

  private record Piece(ByteBuffer buffer, int start, int bytes) {}

  private final String name;
  private final int alignment;
  private final TreeMap<Long, Piece> pieces = new TreeMap<>();
  private long usedBytes;

  ShimMemory(String name, int alignment) {
    this.name = name;
    this.alignment = alignment;
  }

  long usedBytes() {
    return usedBytes;
  }

  long allocate(long bytes) {
    assertThat(bytes).as("bytes of " + name).isPositive();
    int size = Math.toIntExact(bytes);
    ByteBuffer buffer = NativeMemory.allocate(Math.addExact(size, 3 * alignment));
    long base = NativeMemory.address(buffer);
    long address = (base + 2L * alignment - 1) / alignment * alignment;
    int start = (int) (address - base);
    fill(buffer, 0, buffer.capacity(), GUARD);
    fill(buffer, start, start + size, UNWRITTEN);
    pieces.put(address, new Piece(buffer, start, size));
    usedBytes += bytes;
    return address;
  }

  void free(long address) {
    Piece piece = pieces.remove(address);
    assertThat(piece).as(name + " at " + address + " that was given out").isNotNull();
    assertGuarded(address, piece);
    usedBytes -= piece.bytes;
  }

  boolean contains(long address, long bytes) {
    Map.Entry<Long, Piece> below = pieces.floorEntry(address);
    return below != null && address + bytes <= below.getKey() + below.getValue().bytes;
  }

  /** The address at which the piece around this one begins; 0 if there is none. */
  long startOf(long address) {
    Map.Entry<Long, Piece> below = pieces.floorEntry(address);
    boolean inside = below != null && address < below.getKey() + below.getValue().bytes;
    return inside ? below.getKey() : 0;
  }

  /** The piece that begins there. */
  ByteBuffer at(long start) {
    return NativeMemory.view(start, pieces.get(start).bytes);
  }

  void assertGuarded() {
    pieces.forEach(this::assertGuarded);
  }

  void assertAllGivenBack() {
    assertThat(pieces.keySet()).as(name + " that was not given back").isEmpty();
  }

  private void assertGuarded(long address, Piece piece) {
    for (int i = 0; i < piece.buffer.capacity(); i++) {
      if (i == piece.start) {
        i += piece.bytes - 1;
      } else if (piece.buffer.get(i) != GUARD) {
        throw new AssertionError(
            "byte "
                + (i - piece.start)
                + " of "
                + piece.bytes
                + " of "
                + name
                + " at "
                + address
                + " was written");
      }
    }
  }

  private static void fill(ByteBuffer buffer, int from, int to, byte value) {
    byte[] piece = new byte[Math.min(1 << 12, to - from)];
    Arrays.fill(piece, value);
    for (int i = from; i < to; i += piece.length) {
      buffer.put(i, piece, 0, Math.min(piece.length, to - i));
    }
  }
}
