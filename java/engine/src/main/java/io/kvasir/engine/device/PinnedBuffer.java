package io.kvasir.engine.device;

import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Page-locked host memory that grows: what a step hands to kernels and reads from them.
 *
 * <p>Not thread-safe. Whoever calls sees to it that the device is not using the memory any more.
 */
public final class PinnedBuffer implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PinnedBuffer.class);

  private final DeviceApi device;
  private long address;
  private ByteBuffer bytes;

  /**
   * Takes memory.
   *
   * @param device the device that will use it
   * @param bytes at least 1
   * @throws DeviceOutOfMemoryException if the system refuses
   */
  public PinnedBuffer(DeviceApi device, int bytes) {
    this.device = device;
    this.address = device.allocatePinned(bytes);
    this.bytes = NativeMemory.view(address, bytes);
  }

  /**
   * Sees to it that there is room. What was in the buffer is lost if it grows, which it does by
   * doubling at least; if it cannot, it stays as it was.
   *
   * @param wanted bytes
   * @return the memory, in native byte order
   * @throws DeviceOutOfMemoryException if the system refuses
   * @throws IllegalArgumentException if that is more than 2 GiB
   * @throws IllegalStateException after {@link #close}
   */
  public ByteBuffer room(long wanted) {
    if (bytes == null) {
      throw new IllegalStateException("the buffer is closed");
    }
    if (wanted > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("a buffer may have 2 GiB, not " + wanted + " bytes");
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
   * Where the memory lies, for host and device, until it grows.
   *
   * @return its address
   */
  public long address() {
    return address;
  }

  /** Gives the memory back; with a lost device it is gone already. */
  @Override
  public void close() {
    if (bytes != null) {
      bytes = null;
      try {
        device.freePinned(address);
      } catch (FatalDeviceException e) {
        LOG.debug("Page-locked memory went with its device", e);
      }
    }
  }
}
