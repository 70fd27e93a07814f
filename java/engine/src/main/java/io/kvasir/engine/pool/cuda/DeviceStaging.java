package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.List;

/**
 * Page-locked memory for the input of batches, and device memory of the same size that one copy
 * fills. Allocated once; grows only for a batch that exceeds its capacity.
 *
 * <p>Confined to the thread of the pool's owner.
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
    allocate(capacityBytes);
  }

  /** Reserved bytes from the start; a multiple of 64. */
  int used() {
    return used;
  }

  boolean fits(long more) {
    return more <= bytes.capacity() - used;
  }

  /** Grows to the size of one batch and discards the contents. A failure leaves this unchanged. */
  void grow(long wanted) {
    if (wanted > Integer.MAX_VALUE - ALIGNMENT) {
      throw new IllegalArgumentException(
          "a batch must take less than 2 GiB of staging memory, not " + wanted + " bytes");
    }
    int capacity = (int) Math.min(Integer.MAX_VALUE, Math.max(wanted, 2L * bytes.capacity()));
    long oldHost = hostAddress;
    long oldDevice = deviceAddress;
    allocate(capacity);
    used = 0;
    release(oldHost, oldDevice);
  }

  /** Size of an array in bytes, including the padding that aligns the next one. */
  static long aligned(long size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  /** Size of a batch in bytes: its entries, and the tokens and sequence hashes of its blocks. */
  static long batchBytes(long entryBytes, long blocks, int tokensPerBlock) {
    return aligned(entryBytes)
        + aligned(blocks * tokensPerBlock * Integer.BYTES)
        + aligned(blocks * Long.BYTES);
  }

  /** Reserves space, which must {@link #fits fit}; returns its position. */
  int reserve(long size) {
    int at = used;
    used += (int) aligned(size);
    return at;
  }

  /** The memory on the host, by position. */
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

  /** Address of the memory on the host, which the device can use as well. */
  long onHost(int at) {
    return hostAddress + at;
  }

  void copyToDevice(DeviceApi.Stream stream) {
    device.copy(stream, deviceAddress, hostAddress, used);
  }

  void copyFromDevice(DeviceApi.Stream stream, int at, int size) {
    device.copy(stream, hostAddress + at, deviceAddress + at, size);
  }

  /** Copies other device memory to a position on the host. */
  void copyFrom(DeviceApi.Stream stream, long source, int at, int size) {
    device.copy(stream, hostAddress + at, source, size);
  }

  void reset() {
    used = 0;
  }

  @Override
  public void close() {
    release(hostAddress, deviceAddress);
  }

  private void release(long host, long onDevice) {
    ReleaseSteps.all(List.of(() -> device.freePinned(host), () -> device.free(onDevice)));
  }

  /** Allocates both memories or neither. */
  private void allocate(int capacity) {
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
