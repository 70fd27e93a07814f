package io.kvasir.testing.execute;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;

/**
 * Page-locked host memory that grows. Carries a step's input to kernels and their output back.
 *
 * <p>Not thread-safe. Callers must ensure that the device no longer uses the memory.
 */
final class PinnedBuffer implements AutoCloseable {

  private final DeviceApi device;
  private long address;
  private ByteBuffer bytes;

  /**
   * Allocates a buffer.
   *
   * @param device the device that will use it
   * @param bytes at least 1
   * @throws DeviceOutOfMemoryException if the system refuses
   */
  PinnedBuffer(DeviceApi device, int bytes) {
    this.device = device;
    this.address = device.allocatePinned(bytes);
    this.bytes = NativeMemory.view(address, bytes);
  }

  /**
   * Ensures a capacity. Growth at least doubles the buffer and discards its contents. If growth
   * fails, the buffer is unchanged.
   *
   * @param wanted the needed capacity in bytes
   * @return the memory, in native byte order
   * @throws DeviceOutOfMemoryException if the system refuses
   * @throws IllegalArgumentException if {@code wanted} is 2 GiB or more
   * @throws IllegalStateException after {@link #close}
   */
  ByteBuffer room(long wanted) {
    if (bytes == null) {
      throw new IllegalStateException("the buffer is closed");
    }
    if (wanted > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "wanted must be less than 2 GiB, not " + wanted + " bytes");
    }
    if (wanted > bytes.capacity()) {
      int size = (int) Math.min(Integer.MAX_VALUE, Math.max(wanted, 2L * bytes.capacity()));
      long larger = device.allocatePinned(size);
      long old = address;
      address = larger;
      bytes = NativeMemory.view(larger, size);
      device.freePinned(old);
    }
    return bytes;
  }

  /**
   * The memory's address, for host and device. Valid until the buffer grows or is closed.
   *
   * @return the address
   */
  long address() {
    return address;
  }

  /** Frees the memory. Does not throw if the device is lost. */
  @Override
  public void close() {
    if (bytes != null) {
      bytes = null;
      try {
        device.freePinned(address);
      } catch (FatalDeviceException e) {
        // The memory went with the device.
      }
    }
  }
}
