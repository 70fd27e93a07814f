package io.kvasir.internal.nativelib;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.bytedeco.javacpp.Pointer;

/** Buffers that Java and the native library both see. */
public final class NativeMemory {

  static {
    LibraryLoader.requireLoaded();
  }

  private NativeMemory() {}

  /**
   * A zeroed buffer outside the heap, freed with the object.
   *
   * @param bytes its size
   * @return the buffer, in native byte order
   */
  public static ByteBuffer allocate(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /**
   * Where a direct buffer lies.
   *
   * @param buffer a direct buffer
   * @return the address of its first byte
   */
  public static long address(ByteBuffer buffer) {
    return new Pointer(buffer).address();
  }

  /**
   * A view of memory that the library owns.
   *
   * @param address its first byte
   * @param bytes its size
   * @return a buffer in native byte order, valid as long as the memory
   */
  public static ByteBuffer view(long address, int bytes) {
    return new Window(address, bytes).asByteBuffer().order(ByteOrder.nativeOrder());
  }

  private static final class Window extends Pointer {
    Window(long address, long bytes) {
      this.address = address;
      this.limit = bytes;
      this.capacity = bytes;
    }

    /** Of an element; a pointer's own answer would be that of an address. */
    @Override
    public int sizeof() {
      return 1;
    }
  }
}
