package io.kvasir.engine.pool.cuda;

import static io.kvasir.engine.pool.PoolRecords.EVENT_BYTES;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.engine.pool.PoolRecords;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.event.BlockEvent;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.internal.nativelib.PoolLibrary;
import io.kvasir.model.Checks;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * All memory of a pool on a device: state and KV on the device; occupancy page and event ring in
 * page-locked host memory, which the device writes and the host reads.
 *
 * <p>Confined to the thread of the pool's owner.
 */
public final class CudaPoolMemory implements AutoCloseable {

  private static final int PAGE_ROOM = 128;
  private static final int RING_HEAD_BYTES = 64;

  /** Events in one view: a buffer has at most 2 GiB, a ring may be larger. */
  private static final int EVENTS_PER_VIEW = 1 << 12;

  private final DeviceApi device;
  private final PoolShape shape;
  private final long kvBytesPerBlock;
  private final long state;
  private final long kv;

  /** Address of page and ring, in page-locked memory, for the host and for kernels. */
  private final long shared;

  /** A view of the events from slot {@link #firstSlot}; empty until an event is read. */
  private ByteBuffer events = ByteBuffer.allocate(0);

  private long firstSlot = -1;

  /**
   * Allocates all memory or none.
   *
   * @param device the device
   * @param shape the pool's sizes
   * @param kvBytesPerBlock KV memory of a block, at least 0
   * @throws DeviceOutOfMemoryException with the total size needed and the free memory
   * @throws IllegalArgumentException if the pool would be too large for its kernels
   */
  CudaPoolMemory(DeviceApi device, PoolShape shape, long kvBytesPerBlock) {
    this.device = device;
    this.shape = withAllEvents(shape);
    this.kvBytesPerBlock = kvBytesPerBlock;
    long stateBytes = requireSupported(stateBytes(this.shape), shape);
    long kvBytes = kvBytes(kvBytesPerBlock, shape);
    long freeBytes = device.freeBytes();
    long takenState = 0;
    long takenKv = 0;
    try {
      takenState = device.allocate(stateBytes);
      takenKv = kvBytes == 0 ? 0 : device.allocate(kvBytes);
      shared = device.allocatePinned(PAGE_ROOM + ringBytes(this.shape));
    } catch (RuntimeException e) {
      long[] taken = {takenState, takenKv};
      ReleaseSteps.after(e, List.of(() -> free(taken[0]), () -> free(taken[1])));
      boolean hostRefused = takenState != 0 && (takenKv != 0 || kvBytes == 0);
      throw e instanceof DeviceOutOfMemoryException && !hostRefused
          ? new DeviceOutOfMemoryException(
              device.device().label(), stateBytes + kvBytes, freeBytes, e)
          : e;
    }
    state = takenState;
    kv = takenKv;
  }

  /** Size of the state; less than 0 if the pool is too large for the kernels. */
  private static long stateBytes(PoolShape shape) {
    return PoolLibrary.kvasir_device_pool_bytes(
        shape.capacityBlocks(),
        shape.tokensPerBlock(),
        shape.maxLeases(),
        shape.maxBlocksPerLease(),
        shape.eventCapacity());
  }

  private static long requireSupported(long stateBytes, PoolShape shape) {
    if (stateBytes < 0) {
      throw new IllegalArgumentException(
          "capacityBlocks of a pool on a device must be at most 2^30, not "
              + shape.capacityBlocks());
    }
    return stateBytes;
  }

  private static long kvBytes(long perBlock, PoolShape shape) {
    Checks.within("kvBytesPerBlock", perBlock, 0, mostKvPerBlock(shape));
    return perBlock * shape.capacityBlocks();
  }

  /**
   * Device memory of a pool, state and KV.
   *
   * @param shape the pool's sizes
   * @param kv size of the KV of a token
   * @return bytes; {@link Long#MAX_VALUE} if the pool is too large
   */
  public static long deviceBytes(PoolShape shape, KvShape kv) {
    long stateBytes = stateBytes(withAllEvents(shape));
    long kvPerBlock = kv.bytesPerBlock(shape.tokensPerBlock());
    return stateBytes < 0 || kvPerBlock > mostKvPerBlock(shape)
        ? Long.MAX_VALUE
        : stateBytes + kvPerBlock * shape.capacityBlocks();
  }

  private static long mostKvPerBlock(PoolShape shape) {
    return Long.MAX_VALUE / 2 / shape.capacityBlocks();
  }

  /** The pool's shape on the device, which may have a larger event capacity. */
  PoolShape shape() {
    return shape;
  }

  /** Address of the pool's state on the device. */
  long state() {
    return state;
  }

  /** Address of the KV memory on the device; 0 if there is none. */
  long kv() {
    return kv;
  }

  long kvBytesPerBlock() {
    return kvBytesPerBlock;
  }

  /** Address of a lease's block table on the device. */
  long blockTable(int lease) {
    long tables =
        PoolLibrary.kvasir_device_pool_tables(
            shape.capacityBlocks(),
            shape.tokensPerBlock(),
            shape.maxLeases(),
            shape.maxBlocksPerLease(),
            shape.eventCapacity());
    return state + tables + (long) lease * shape.maxBlocksPerLease() * Integer.BYTES;
  }

  /** Address of the occupancy page, for the host and for kernels. */
  long page() {
    return shared;
  }

  /** Address of the event ring, for the host and for kernels. */
  long ring() {
    return shared + PAGE_ROOM;
  }

  /** An event, which must still be in the ring. */
  BlockEvent event(long number) {
    long slot = number % shape.eventCapacity();
    long first = slot / EVENTS_PER_VIEW * EVENTS_PER_VIEW;
    if (first != firstSlot) {
      int count = (int) Math.min(EVENTS_PER_VIEW, shape.eventCapacity() - first);
      events =
          NativeMemory.view(ring() + RING_HEAD_BYTES + first * EVENT_BYTES, count * EVENT_BYTES);
      firstSlot = first;
    }
    return PoolRecords.event(events, (int) (slot - first) * EVENT_BYTES);
  }

  @Override
  public void close() {
    ReleaseSteps.all(List.of(() -> free(state), () -> free(kv), () -> device.freePinned(shared)));
  }

  private void free(long address) {
    if (address != 0) {
      device.free(address);
    }
  }

  /**
   * The shape with an event capacity for any iteration of an executor: an iteration names at most
   * all blocks and evicts at most all blocks.
   */
  private static PoolShape withAllEvents(PoolShape shape) {
    int most = (int) Math.min(Integer.MAX_VALUE, 2L * shape.capacityBlocks());
    return new PoolShape(
        shape.capacityBlocks(),
        shape.tokensPerBlock(),
        shape.maxLeases(),
        shape.maxBlocksPerLease(),
        Math.max(shape.eventCapacity(), most));
  }

  private static long ringBytes(PoolShape shape) {
    return PoolLibrary.kvasir_event_ring_bytes(shape.eventCapacity());
  }
}
