package io.kvasir.engine.device;

import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Arguments of one kernel, laid out as the driver reads them: values, and an array of where they
 * are. Made once for a kernel, filled anew before each launch; nothing is allocated then.
 *
 * <p>Not thread-safe.
 */
public final class KernelArguments {

  /** Room for any argument that is not a struct. */
  private static final int WORD = Long.BYTES;

  private final ByteBuffer values;
  private final ByteBuffer pointers;
  private final int[] sizes;
  private final int[] offsets;

  /**
   * Arguments of up to eight bytes each.
   *
   * @param count how many
   * @return the arguments, all 0
   */
  public static KernelArguments words(int count) {
    int[] sizes = new int[count];
    Arrays.fill(sizes, WORD);
    return new KernelArguments(sizes);
  }

  /**
   * Arguments of given sizes.
   *
   * @param sizes bytes of each, as the kernel declares it
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
   * Sets an address or another eight bytes.
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
   * Sets four bytes.
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
   * Sets four bytes of a struct.
   *
   * @param index the argument
   * @param field where in the struct, in bytes
   * @param value its value
   * @return this
   */
  public KernelArguments setField(int index, int field, int value) {
    values.putInt(offsets[index] + field, value);
    return this;
  }

  /**
   * Sets eight bytes of a struct.
   *
   * @param index the argument
   * @param field where in the struct, in bytes
   * @param value its value
   * @return this
   */
  public KernelArguments setField(int index, int field, long value) {
    values.putLong(offsets[index] + field, value);
    return this;
  }

  /**
   * The array of pointers to the values.
   *
   * @return a direct buffer
   */
  ByteBuffer pointers() {
    return pointers;
  }

  /** The same values elsewhere, for a launch that reads them later. */
  KernelArguments copy() {
    KernelArguments copy = new KernelArguments(sizes);
    copy.values.put(0, values, 0, values.capacity());
    return copy;
  }
}
