package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.engine.pool.DirectoryMirror;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.OccupancyPage;
import io.kvasir.engine.pool.PoolRecords;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.model.Errors;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The device's side of a {@link CudaBlockPool}: its memory, its stream and the submission, with
 * what the last synchronisation has shown of the pool. A device that fails in a call loses the
 * pool.
 *
 * <p>Confined to the thread of the pool's owner, except {@link #occupancy} and {@link
 * #requireUsable}, which are thread-safe.
 */
final class PoolOnDevice {

  private static final int LEAST_STAGING_BYTES = 1 << 20;
  private static final int MOST_STAGING_BYTES = 16 << 20;

  /** Attempts to read the page while it is being written, before older counts are returned. */
  private static final int PAGE_ATTEMPTS = 1 << 10;

  private final DeviceApi device;
  private final DeviceApi.Stream stream;
  private final PoolShape shape;
  private final CudaPoolMemory memory;

  private final PoolSubmission submission;
  private final OccupancyPage page;
  private final DirectoryMirror mirror;

  /** Lower bound of free blocks after all recorded operations. */
  private long freeAtLeast;

  /** Lower bound of available blocks after all recorded operations. */
  private long availableAtLeast;

  /** The occupancy at the last synchronisation with the device. */
  private volatile Occupancy settled;

  private volatile @Nullable FatalDeviceException lost;

  private PoolOnDevice(
      DeviceApi device,
      DeviceApi.Stream stream,
      PoolShape shape,
      CudaPoolMemory memory,
      int stagingBytes,
      int oneLaunchBlocks) {
    this.device = device;
    this.stream = stream;
    this.shape = shape;
    this.memory = memory;
    this.page = new OccupancyPage(memory.page());
    PoolKernels kernels = new PoolKernels(device, stream, memory.shape(), memory.state());
    this.submission =
        new PoolSubmission(
            device, stream, kernels, memory.shape(), page, stagingBytes, oneLaunchBlocks);
    try {
      kernels.initialise(memory.state(), memory.page(), memory.ring());
      device.synchronize(stream);
      this.mirror = DirectoryMirror.create(shape.capacityBlocks());
    } catch (RuntimeException | Error e) {
      ReleaseSteps.after(
          e, List.of(() -> ReleaseSteps.onceIdle(device, stream, List.of(submission::close))));
      throw e;
    }
    refreshOccupancy();
  }

  /** Allocates all memory of a pool; the caller closes it. */
  static PoolOnDevice create(DeviceApi device, PoolShape shape, long kvBytesPerBlock) {
    return create(
        device, shape, kvBytesPerBlock, stagingBytes(shape), PoolSubmission.ONE_LAUNCH_BLOCKS);
  }

  /**
   * Staging memory for two of the longest leases, within bounds: to grow it, the driver waits for
   * the device.
   */
  private static int stagingBytes(PoolShape shape) {
    long longest =
        DeviceStaging.batchBytes(
            PoolRecords.LEASE_BYTES, shape.maxBlocksPerLease(), shape.tokensPerBlock());
    return (int) Math.min(Math.max(2 * longest, LEAST_STAGING_BYTES), MOST_STAGING_BYTES);
  }

  /**
   * Allocates a pool.
   *
   * @param stagingBytes the initial size of staging memory
   * @param oneLaunchBlocks most blocks of a submission that is one launch; -1 for none
   */
  static PoolOnDevice create(
      DeviceApi device,
      PoolShape shape,
      long kvBytesPerBlock,
      int stagingBytes,
      int oneLaunchBlocks) {
    CudaPoolMemory memory = new CudaPoolMemory(device, shape, kvBytesPerBlock);
    DeviceApi.Stream stream;
    try {
      stream = device.openStream(true); // its kernels are short, and the scheduler waits for them
    } catch (RuntimeException e) {
      ReleaseSteps.after(e, List.of(memory::close));
      throw e;
    }
    try {
      return new PoolOnDevice(device, stream, shape, memory, stagingBytes, oneLaunchBlocks);
    } catch (RuntimeException | Error e) {
      List<Runnable> steps = List.of(() -> device.closeStream(stream), memory::close);
      ReleaseSteps.after(e, List.of(() -> ReleaseSteps.onceIdle(device, stream, steps)));
      throw e;
    }
  }

  /** Waits for the work on the stream, then frees everything. */
  void close() {
    List<Runnable> steps =
        List.of(() -> device.closeStream(stream), submission::close, memory::close);
    ReleaseSteps.all(List.of(mirror::close, () -> ReleaseSteps.onceIdle(device, stream, steps)));
  }

  PoolShape shape() {
    return shape;
  }

  PoolSubmission submission() {
    return submission;
  }

  /** The directory as of the last synchronisation, with the blocks of recorded commits. */
  DirectoryMirror mirror() {
    return mirror;
  }

  CudaPoolMemory memory() {
    return memory;
  }

  /** The addresses on the device. */
  DeviceBlocks blocks() {
    return new DeviceBlocks(device, stream, memory.state(), memory.kv(), memory.kvBytesPerBlock());
  }

  long freeAtLeast() {
    return freeAtLeast;
  }

  long availableAtLeast() {
    return availableAtLeast;
  }

  /** An extension is recorded. */
  void take(long blocks, long beyondReservations) {
    freeAtLeast = Math.max(0, freeAtLeast - blocks);
    availableAtLeast -= beyondReservations;
  }

  /** Sends the recorded operations, unless some are in flight. */
  void send() {
    if (submission.isInFlight()) {
      return;
    }
    try {
      submission.send();
    } catch (RuntimeException e) {
      throw markLost(e);
    }
  }

  /** Waits for the device, then applies its events to the mirror. The ring is complete now. */
  void await() {
    try {
      submission.await();
    } catch (RuntimeException e) {
      throw markLost(e);
    }
    mirror.follow(memory.ring(), memory.shape().eventCapacity());
    refreshOccupancy();
  }

  /** Waits for the operations in flight, if there are any. */
  void complete() {
    if (submission.isInFlight()) {
      await();
      submission.reset();
    }
  }

  /** Has all recorded operations carried out. */
  void settle() {
    send();
    complete();
  }

  private void refreshOccupancy() {
    Occupancy now = page.read(); // the device is not writing it now
    settled = now;
    freeAtLeast = now.freeBlocks();
    availableAtLeast = now.availableBlocks();
  }

  /** The occupancy now. Never waits. */
  Occupancy occupancy() {
    Occupancy now = page.tryRead(PAGE_ATTEMPTS);
    return now != null ? now : settled; // the device may have failed during a write
  }

  /** Ensures that an operation can be recorded; settles the recorded operations if necessary. */
  void makeRoom(long bytes, long events) {
    if (!submission.canRecord(bytes, events)) {
      settle();
      growStaging(bytes);
    }
    submission.addExpectedEvents(events);
  }

  /** Ensures the capacity of staging memory. No operation may be recorded. */
  private void growStaging(long bytes) {
    try {
      submission.makeRoom(bytes);
    } catch (FatalDeviceException e) {
      throw markLost(e);
    }
  }

  /** Reads the block table of a lease. No operation may be recorded. */
  void readTable(int lease, int[] table, int length) {
    growStaging((long) length * Integer.BYTES);
    try {
      submission.read(memory.blockTable(lease), table, length);
    } catch (RuntimeException e) {
      throw markLost(e);
    }
  }

  private FatalDeviceException markLost(RuntimeException e) {
    lost =
        e instanceof FatalDeviceException fatal
            ? fatal
            : new FatalDeviceException("the pool is lost: " + e.getMessage(), e);
    return lost;
  }

  boolean isLost() {
    return lost != null;
  }

  /**
   * Refuses calls of a lost pool.
   *
   * @throws FatalDeviceException if the device has failed
   */
  void requireUsable() {
    if (lost != null) {
      throw new FatalDeviceException(Errors.reason(lost), lost);
    }
  }
}
