package io.kvasir.internal.nativelib;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.bytedeco.javacpp.Pointer;

/** Buffers that Java and the native library share. Stateless. */
public final class NativeMemory {

  static {
    LibraryLoader.requireLoaded();
  }

  private NativeMemory() {}

  /**
   * Allocates a zeroed buffer outside the heap. It is freed when the object is collected.
   *
   * @param bytes its size
   * @return the buffer, in native byte order
   */
  public static ByteBuffer allocate(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /**
   * The address of a direct buffer.
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
   * @return a buffer in native byte order; valid while the memory is allocated
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

    /** The size of an element. The inherited method returns the size of an address. */
    @Override
    public int sizeof() {
      return 1;
    }
  }
}
