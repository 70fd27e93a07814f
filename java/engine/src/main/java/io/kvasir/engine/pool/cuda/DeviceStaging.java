package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.List;

/**
 * Page-locked memory in which batches are laid out, and its twin on the device that one copy fills.
 * Taken once; only a batch larger than all of it makes it grow.
 *
 * <p>Confined to the pool's owner.
 */
final class DeviceStaging implements AutoCloseable {

  private static final int ALIGNMENT = 64;

  private final DeviceApi device;
  private long hostAddress;
  private long deviceAddress;
  private ByteBuffer bytes;
  private IntBuffer ints;
  private LongBuffer longs;
  private int used;

  DeviceStaging(DeviceApi device, int capacityBytes) {
    this.device = device;
    take(capacityBytes);
  }

  boolean isEmpty() {
    return used == 0;
  }

  boolean fits(long more) {
    return more <= bytes.capacity() - used;
  }

  /**
   * Makes room for one batch; what is in it must not be needed any more. If that fails it stays as
   * it was.
   */
  void grow(long wanted) {
    if (wanted > Integer.MAX_VALUE - ALIGNMENT) {
      throw new IllegalArgumentException(
          "a batch may take 2 GiB of staging memory, not " + wanted + " bytes");
    }
    int capacity = (int) Math.min(Integer.MAX_VALUE, Math.max(wanted, 2L * bytes.capacity()));
    long oldHost = hostAddress;
    long oldDevice = deviceAddress;
    take(capacity);
    used = 0;
    giveBack(oldHost, oldDevice);
  }

  /** Bytes that an array takes, with what aligns the next one. */
  static long aligned(long size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  /** Reserves room that {@link #fits}; returns its position. */
  int reserve(long size) {
    int at = used;
    used += (int) aligned(size);
    return at;
  }

  /** Where things are written and read on the host, by position. */
  ByteBuffer bytes() {
    return bytes;
  }

  void putInts(int at, int[] from, int first, int count) {
    ints.put(at / Integer.BYTES, from, first, count);
  }

  void putLongs(int at, long[] from, int first, int count) {
    longs.put(at / Long.BYTES, from, first, count);
  }

  void getInts(int at, int[] to, int count) {
    ints.get(at / Integer.BYTES, to, 0, count);
  }

  long onDevice(int at) {
    return deviceAddress + at;
  }

  void copyToDevice(DeviceApi.Stream stream) {
    device.copy(stream, deviceAddress, hostAddress, used);
  }

  void copyFromDevice(DeviceApi.Stream stream, int at, int size) {
    device.copy(stream, hostAddress + at, deviceAddress + at, size);
  }

  /** Copies device memory from elsewhere to a position on the host. */
  void copyFrom(DeviceApi.Stream stream, long source, int at, int size) {
    device.copy(stream, hostAddress + at, source, size);
  }

  void reset() {
    used = 0;
  }

  @Override
  public void close() {
    giveBack(hostAddress, deviceAddress);
  }

  private void giveBack(long host, long onDevice) {
    ReleaseSteps.all(List.of(() -> device.freePinned(host), () -> device.free(onDevice)));
  }

  /** Both or neither. */
  private void take(int capacity) {
    long host = device.allocatePinned(capacity);
    try {
      deviceAddress = device.allocate(capacity);
    } catch (RuntimeException e) {
      ReleaseSteps.after(e, List.of(() -> device.freePinned(host)));
      throw e;
    }
    hostAddress = host;
    bytes = NativeMemory.view(host, capacity);
    ints = bytes.asIntBuffer();
    longs = bytes.asLongBuffer();
  }
}
