package io.kvasir.engine.device;

import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Arguments of one kernel in the driver's layout: the values, and an array of their addresses.
 * Created once per kernel and updated before each launch, which allocates nothing.
 *
 * <p>Not thread-safe.
 */
public final class KernelArguments {

  /** Size of the slot of an argument that is not a struct. */
  private static final int WORD = Long.BYTES;

  private final ByteBuffer values;
  private final ByteBuffer pointers;
  private final int[] sizes;
  private final int[] offsets;

  /**
   * Makes arguments of up to eight bytes each.
   *
   * @param count number of arguments
   * @return the arguments, all 0
   */
  public static KernelArguments words(int count) {
    int[] sizes = new int[count];
    Arrays.fill(sizes, WORD);
    return new KernelArguments(sizes);
  }

  /**
   * Makes arguments of the given sizes, all 0.
   *
   * @param sizes size of each argument in bytes, as the kernel declares it
   */
  public KernelArguments(int... sizes) {
    this.sizes = sizes.clone();
    offsets = new int[sizes.length];
    int bytes = 0;
    for (int i = 0; i < sizes.length; i++) {
      offsets[i] = bytes;
      bytes += (sizes[i] + WORD - 1) / WORD * WORD;
    }
    values = NativeMemory.allocate(Math.max(WORD, bytes));
    pointers = NativeMemory.allocate(Math.max(WORD, sizes.length * WORD));
    long address = NativeMemory.address(values);
    for (int i = 0; i < sizes.length; i++) {
      pointers.putLong(i * WORD, address + offsets[i]);
    }
  }

  /**
   * Sets an address or another eight-byte value.
   *
   * @param index the argument
   * @param value its value
   * @return this
   */
  public KernelArguments set(int index, long value) {
    values.putLong(offsets[index], value);
    return this;
  }

  /**
   * Sets a four-byte value.
   *
   * @param index the argument
   * @param value its value
   * @return this
   */
  public KernelArguments set(int index, int value) {
    values.putInt(offsets[index], value);
    return this;
  }

  /**
   * Sets a four-byte field of a struct.
   *
   * @param index the argument
   * @param field offset in the struct, in bytes
   * @param value its value
   * @return this
   */
  public KernelArguments setField(int index, int field, int value) {
    values.putInt(offsets[index] + field, value);
    return this;
  }

  /**
   * Sets an eight-byte field of a struct.
   *
   * @param index the argument
   * @param field offset in the struct, in bytes
   * @param value its value
   * @return this
   */
  public KernelArguments setField(int index, int field, long value) {
    values.putLong(offsets[index] + field, value);
    return this;
  }

  /** {@return the array of addresses of the values; a direct buffer} */
  ByteBuffer pointers() {
    return pointers;
  }

  /** {@return the values in words of eight bytes, in order; one word or more for each argument} */
  List<Long> words() {
    return IntStream.range(0, values.capacity() / WORD)
        .mapToObj(i -> values.getLong(i * WORD))
        .toList();
  }

  /** A copy of the values, for a launch that reads them later. */
  KernelArguments copy() {
    KernelArguments copy = new KernelArguments(sizes);
    copy.values.put(0, values, 0, values.capacity());
    return copy;
  }
}
