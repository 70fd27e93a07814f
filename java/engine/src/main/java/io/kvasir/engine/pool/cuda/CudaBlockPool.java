package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.engine.device.RetryableDeviceException;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.DirectoryMirror;
import io.kvasir.engine.pool.DirectoryProbe;
import io.kvasir.engine.pool.DirectoryView;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PoolGuard;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.event.BlockEventSink;
import java.util.List;
import java.util.Objects;

/**
 * A block pool in the memory of a CUDA device: KV, directory and all state. Kernels carry out its
 * operations; see {@code device_pool_core.hpp}.
 *
 * <p><b>State on the host.</b> A ledger of the leases validates calls and answers {@link #extend}.
 * A mirror of the directory answers {@link #probe}. {@link #extend}, {@link #commit} and {@link
 * #release} therefore only record an operation. Recorded operations are sent to the device with the
 * next {@link #lease}, which only the device can answer because it compares content, or with {@link
 * #submit}. A submission is one launch on the pool's own stream if it is small, otherwise one copy
 * and a launch for each phase; and one synchronisation.
 *
 * <p><b>Visibility.</b> Answers are always as if each call had been carried out at once. A probe
 * includes the blocks of recorded commits. It also includes blocks that an incomplete extension
 * will evict. {@link #occupancy} shows completed operations only.
 *
 * <p><b>Failures.</b> If the device fails or contradicts the ledger, the pool is lost: this and
 * every later call except {@link #close} throws {@link FatalDeviceException}. A call that throws
 * {@link RetryableDeviceException}, for example because staging memory cannot grow, has no effect.
 *
 * <p>Memory on the device besides KV: per block the tokens (4 bytes each), 32 bytes of name, 56 of
 * state and 24 of directory; per lease 60 bytes, and 4 for each of {@code maxBlocksPerLease};
 * staging memory of 1 to 16 MiB. On the host: 16 bytes of mirror per block; and page-locked,
 * staging memory and 32 bytes for each event in the ring, which keeps at least two events per
 * block.
 */
public final class CudaBlockPool implements BlockPool {

  private final PoolShape shape;
  private final PoolOnDevice onDevice;
  private final PoolSubmission submission;
  private final DirectoryMirror mirror;
  private final PoolGuard guard;
  private final LeaseLedger ledger;
  private final ExtendBatch granted = new ExtendBatch();

  /** Number of the first event that {@link #drainEvents} has not returned. */
  private long drained;

  private CudaBlockPool(PoolOnDevice onDevice) {
    this.shape = onDevice.shape();
    this.onDevice = onDevice;
    this.submission = onDevice.submission();
    this.mirror = onDevice.mirror();
    this.ledger = new LeaseLedger(shape);
    this.guard = new PoolGuard("block pool on a device", onDevice.memory().page());
  }

  /**
   * Makes a pool and allocates all its memory.
   *
   * @param device the device, with kernels loaded; the pool does not close it
   * @param shape its sizes
   * @param kvBytesPerBlock KV memory of a block; 0 if the engine needs none
   * @return the pool; the caller closes it
   * @throws DeviceOutOfMemoryException if there is too little memory; none stays allocated
   * @throws IllegalArgumentException if the pool would be too large for its kernels
   * @throws FatalDeviceException if the device fails
   */
  public static CudaBlockPool create(DeviceApi device, PoolShape shape, long kvBytesPerBlock) {
    return of(PoolOnDevice.create(device, shape, kvBytesPerBlock));
  }

  /** Makes a pool of its side on the device, which it closes. */
  static CudaBlockPool of(PoolOnDevice onDevice) {
    try {
      return new CudaBlockPool(onDevice);
    } catch (RuntimeException | Error e) {
      ReleaseSteps.after(e, List.of(onDevice::close));
      throw e;
    }
  }

  @Override
  public PoolShape shape() {
    return shape;
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    guard.enter();
    try {
      onDevice.requireUsable();
      mirror.probe(batch, matchedBlocks, offset);
    } finally {
      guard.leave();
    }
  }

  @Override
  public void lease(LeaseBatch batch) {
    granted.clear();
    lease(batch, granted);
  }

  @Override
  public void lease(LeaseBatch batch, ExtendBatch reserved) {
    enterAsOwner();
    try {
      ledger.requireValid(batch);
      ledger.requireReserved(reserved);
      if (batch.size() == 0) {
        extend(reserved); // within reservations, so the device is not needed
        return;
      }
      long leased = 0;
      for (int i = 0; i < batch.size(); i++) {
        leased += batch.blocks(i);
      }
      long extended = 0;
      for (int i = 0; i < reserved.size(); i++) {
        extended += reserved.blocks(i);
      }
      onDevice.makeRoom(
          PoolSubmission.bytes(batch, shape.tokensPerBlock()) + PoolSubmission.bytes(reserved),
          evictedAtMost(leased + extended));
      submission.lease(batch, leased > onDevice.freeAtLeast());
      if (reserved.size() > 0) {
        submission.extend(reserved, leased + extended > onDevice.freeAtLeast());
      }
      onDevice.send();
      onDevice.await();
      submission.readAnswers(batch);
      submission.reset();
      ledger.opened(batch);
      for (int i = 0; i < reserved.size(); i++) {
        reserved.answer(i, 0);
        ledger.extended(reserved.lease(i), reserved.blocks(i));
      }
    } finally {
      guard.leave();
    }
  }

  /** Only recorded, unless the pool is so full that the device must answer. */
  @Override
  public void extend(ExtendBatch batch) {
    enterAsOwner();
    try {
      ledger.requireValid(batch);
      long wanted = 0;
      for (int i = 0; i < batch.size(); i++) {
        wanted += ledger.beyondReservation(batch.lease(i), batch.blocks(i));
      }
      if (wanted > onDevice.availableAtLeast()) {
        onDevice.settle();
      }
      wanted = 0;
      granted.clear();
      for (int i = 0; i < batch.size(); i++) {
        int beyond = ledger.beyondReservation(batch.lease(i), batch.blocks(i));
        wanted += beyond;
        boolean grants = beyond == 0 || wanted <= onDevice.availableAtLeast();
        batch.answer(i, grants ? 0 : wanted - onDevice.availableAtLeast());
        if (grants) {
          granted.add(batch.lease(i), batch.blocks(i));
        }
      }
      if (granted.size() > 0) {
        recordExtension();
      }
    } finally {
      guard.leave();
    }
  }

  private void recordExtension() {
    long blocks = 0;
    long beyond = 0;
    for (int i = 0; i < granted.size(); i++) {
      blocks += granted.blocks(i);
      beyond += ledger.beyondReservation(granted.lease(i), granted.blocks(i));
    }
    onDevice.makeRoom(PoolSubmission.bytes(granted), evictedAtMost(blocks));
    submission.extend(granted, blocks > onDevice.freeAtLeast());
    onDevice.take(blocks, beyond);
    for (int i = 0; i < granted.size(); i++) {
      ledger.extended(granted.lease(i), granted.blocks(i));
    }
  }

  @Override
  public void commit(CommitBatch batch) {
    enterAsOwner();
    try {
      ledger.requireValid(batch);
      if (batch.size() == 0) {
        return;
      }
      long blocks = 0;
      for (int i = 0; i < batch.size(); i++) {
        blocks += batch.toBlock(i) - batch.fromBlock(i);
      }
      if (mirror.size() + blocks > shape.capacityBlocks()) {
        onDevice.settle(); // evictions make room in the mirror
      }
      onDevice.makeRoom(PoolSubmission.bytes(batch, shape.tokensPerBlock()), blocks);
      submission.commit(batch);
      ledger.committed(batch);
      for (int i = 0; i < batch.size(); i++) {
        if (ledger.nameable(batch.lease(i))) {
          mirror.add(batch.sequenceHashes(i), batch.fromBlock(i), batch.toBlock(i));
        }
      }
    } finally {
      guard.leave();
    }
  }

  @Override
  public void release(int[] leases, int count) {
    enterAsOwner();
    try {
      Objects.checkFromIndexSize(0, count, leases.length);
      ledger.requireValid(leases, count);
      if (count == 0) {
        return;
      }
      onDevice.makeRoom(PoolSubmission.releaseBytes(count), 0);
      submission.release(leases, count);
      ledger.released(leases, count);
    } finally {
      guard.leave();
    }
  }

  @Override
  public void clear() {
    enterAsOwner();
    try {
      onDevice.settle();
      submission.clear();
      ledger.cleared();
      onDevice.settle();
    } finally {
      guard.leave();
    }
  }

  @Override
  public void submit() {
    enterAsOwner();
    try {
      onDevice.send();
    } finally {
      guard.leave();
    }
  }

  @Override
  public void complete() {
    enterAsOwner();
    try {
      onDevice.complete();
    } finally {
      guard.leave();
    }
  }

  @Override
  public int drainEvents(BlockEventSink sink) {
    enterAsOwner();
    try {
      onDevice.settle();
      long first = Math.max(drained, mirror.nextEvent() - shape.eventCapacity());
      drained = mirror.nextEvent();
      for (long number = first; number < drained; number++) {
        sink.onEvent(number, onDevice.memory().event(number));
      }
      return (int) (drained - first);
    } finally {
      guard.leave();
    }
  }

  @Override
  public Occupancy occupancy() {
    guard.enter();
    try {
      onDevice.requireUsable();
      return onDevice.occupancy();
    } finally {
      guard.leave();
    }
  }

  @Override
  public int blockTable(int lease, int[] table) {
    enterAsOwner();
    try {
      onDevice.settle();
      ledger.requireKnown(lease);
      int length = ledger.blocks(lease);
      if (length > table.length) {
        throw new IllegalArgumentException(
            "table must hold " + length + " blocks, not " + table.length);
      }
      onDevice.readTable(lease, table, length);
      return length;
    } finally {
      guard.leave();
    }
  }

  /**
   * The addresses of the pool on its device, for engines that compute in its blocks. Valid until
   * {@link #close}.
   *
   * @return the addresses, and the stream of the pool's operations
   */
  public DeviceBlocks deviceBlocks() {
    guard.enter();
    try {
      onDevice.requireUsable();
      return onDevice.blocks();
    } finally {
      guard.leave();
    }
  }

  @Override
  public void handOver() {
    guard.handOver();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Waits for the work on the pool's stream, including that of engines. If the device is lost or
   * does not respond within some seconds, its memory stays allocated until the context ends. A
   * {@link CudaPrefixMatcher} over the pool must be closed before.
   */
  @Override
  public void close() {
    if (guard.close() != 0) {
      onDevice.close();
    }
  }

  /** The mirror's directory, for {@link DirectoryProbe}. */
  DirectoryView directory() {
    return mirror.directory();
  }

  /** Upper bound of evictions: without a commit in between, no block is evicted twice. */
  private long evictedAtMost(long wanted) {
    return Math.min(wanted, shape.capacityBlocks());
  }

  private void enterAsOwner() {
    guard.enterAsOwner();
    if (onDevice.isLost()) {
      guard.leave();
      onDevice.requireUsable();
    }
  }
}
