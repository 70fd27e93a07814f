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
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.OccupancyPage;
import io.kvasir.engine.pool.PoolRegion;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.event.BlockEventSink;
import java.util.List;
import java.util.Objects;

/**
 * A block pool in the memory of a CUDA device: KV, directory and all state. Kernels carry its
 * operations out; {@code device_pool_core.hpp} says how.
 *
 * <p><b>What the host knows.</b> A ledger of the leases refuses wrong calls and answers {@link
 * #extend}, a mirror of the directory answers {@link #probe}. So {@link #extend}, {@link #commit}
 * and {@link #release} only record what is to be done. It goes to the device with the next {@link
 * #lease}, whose answer only the device knows because it compares content, or with {@link #submit}:
 * one copy, one row of launches on the pool's own stream, one synchronisation.
 *
 * <p><b>What is exact when.</b> Answers are always as if each call had been carried out at once. A
 * probe finds what is put off to be named, and still finds what an extension that is not complete
 * will evict. {@link #occupancy} shows what the device has done.
 *
 * <p><b>Failures.</b> If the device fails, or contradicts the ledger, the pool is lost: this and
 * every later call but {@link #close} throws {@link FatalDeviceException}. A call that throws
 * {@link RetryableDeviceException}, for example because staging memory cannot grow, has changed
 * nothing.
 *
 * <p>Memory on the device besides KV: per block the tokens (4 bytes each), 32 bytes of name, 32 of
 * state and 24 of directory; per lease 60 bytes, and 4 for each of {@code maxBlocksPerLease}. On
 * the host: 16 bytes per block of mirror and, page-locked, 32 bytes per event that is kept, two for
 * each block at least, and staging.
 */
public final class CudaBlockPool implements BlockPool {

  private static final int STAGING_BYTES = 1 << 20;

  /** How often the page is looked at while it is being written, before older counts must do. */
  private static final int PAGE_ATTEMPTS = 1 << 10;

  private final PoolShape shape;
  private final DeviceApi device;
  private final DeviceApi.Stream stream;
  private final CudaPoolMemory memory;

  /** Where other processes read the pool; null when they do not. */
  private final PoolRegion region;

  private final PoolSubmission submission;
  private final OccupancyPage page;
  private final DirectoryMirror mirror;
  private final LeaseLedger ledger;
  private final ExtendBatch granted = new ExtendBatch();

  /** Number of the first event that {@link #drainEvents} has not handed out. */
  private long drained;

  /** Blocks that are free, and that are available, at least, once all that is recorded is done. */
  private long freeAtLeast;

  private long availableAtLeast;

  /** What the page showed when the pool last waited for the device. */
  private volatile Occupancy settled;

  private volatile FatalDeviceException lost;
  private volatile boolean closed;

  private CudaBlockPool(
      DeviceApi device,
      DeviceApi.Stream stream,
      PoolShape shape,
      CudaPoolMemory memory,
      PoolRegion region,
      int stagingBytes) {
    this.shape = shape;
    this.region = region;
    this.device = device;
    this.stream = stream;
    this.memory = memory;
    this.ledger = new LeaseLedger(shape);
    this.page = new OccupancyPage(memory.page());
    PoolKernels kernels = new PoolKernels(device, stream, memory.shape(), memory.state());
    this.submission = new PoolSubmission(device, stream, kernels, memory.shape(), stagingBytes);
    try {
      kernels.initialise(memory.state(), memory.pageOnDevice(), memory.ringOnDevice());
      device.synchronize(stream);
      this.mirror = DirectoryMirror.create(shape.capacityBlocks());
    } catch (RuntimeException | Error e) {
      ReleaseSteps.after(e, List.of(submission::close));
      throw e;
    }
    look();
  }

  /**
   * Makes a pool and takes all its memory.
   *
   * @param device the device, with kernels loaded; the pool does not close it
   * @param shape its sizes
   * @param kvBytesPerBlock KV memory of a block, 0 for a pool whose engine needs none
   * @return the pool; the caller closes it
   * @throws DeviceOutOfMemoryException if the memory is not to be had; nothing is kept
   * @throws IllegalArgumentException if the pool would be too large for its kernels
   * @throws FatalDeviceException if the device fails
   */
  public static CudaBlockPool create(DeviceApi device, PoolShape shape, long kvBytesPerBlock) {
    return create(device, shape, kvBytesPerBlock, STAGING_BYTES);
  }

  /** Begins with so much staging memory. */
  static CudaBlockPool create(
      DeviceApi device, PoolShape shape, long kvBytesPerBlock, int stagingBytes) {
    return create(device, shape, kvBytesPerBlock, null, stagingBytes);
  }

  /**
   * Makes a pool whose occupancy and events the device writes where other processes read them.
   * Whenever the pool has waited for the device, it also writes the snapshots that such readers ask
   * for.
   *
   * @param device the device, with kernels loaded; the pool does not close it
   * @param region where they read, of the wanted shape, which keeps at least as many events as
   *     there are blocks, in a folder in memory: a driver may refuse to page-lock a disk's; it
   *     serves this one pool and is closed after it, by the caller
   * @return the pool; the caller closes it
   * @throws DeviceOutOfMemoryException if the memory is not to be had; nothing is kept
   * @throws IllegalArgumentException if the pool would be too large for its kernels, or its ring
   *     too small
   * @throws IllegalStateException if the region is closed or serves another pool
   * @throws FatalDeviceException if the device fails
   */
  public static CudaBlockPool create(DeviceApi device, PoolRegion region) {
    region.claim();
    return create(device, region.shape(), region.kvBytesPerBlock(), region, STAGING_BYTES);
  }

  private static CudaBlockPool create(
      DeviceApi device,
      PoolShape shape,
      long kvBytesPerBlock,
      PoolRegion region,
      int stagingBytes) {
    CudaPoolMemory memory = new CudaPoolMemory(device, shape, kvBytesPerBlock, region);
    DeviceApi.Stream stream;
    try {
      stream = device.openStream(false);
    } catch (RuntimeException e) {
      ReleaseSteps.after(e, List.of(memory::close));
      throw e;
    }
    try {
      return new CudaBlockPool(device, stream, shape, memory, region, stagingBytes);
    } catch (RuntimeException | Error e) {
      ReleaseSteps.after(e, List.of(() -> device.closeStream(stream), memory::close));
      throw e;
    }
  }

  @Override
  public PoolShape shape() {
    return shape;
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    requireUsable();
    mirror.probe(batch, matchedBlocks, offset);
  }

  @Override
  public void lease(LeaseBatch batch) {
    granted.clear();
    lease(batch, granted);
  }

  @Override
  public void lease(LeaseBatch batch, ExtendBatch reserved) {
    requireUsable();
    ledger.requireValid(batch);
    ledger.requireReserved(reserved);
    if (batch.size() == 0) {
      extend(reserved); // promised, so this asks nothing of the device
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
    makeRoom(
        PoolSubmission.bytes(batch, shape.tokensPerBlock()) + PoolSubmission.bytes(reserved),
        evictedAtMost(leased + extended));
    submission.lease(batch, leased > freeAtLeast);
    if (reserved.size() > 0) {
      submission.extend(reserved, leased + extended > freeAtLeast);
    }
    submit();
    await();
    submission.readAnswers(batch);
    submission.reset();
    ledger.opened(batch);
    for (int i = 0; i < reserved.size(); i++) {
      reserved.answer(i, 0);
      ledger.extended(reserved.lease(i), reserved.blocks(i));
    }
  }

  /** Recorded, unless the pool is so full that only the device knows the answer. */
  @Override
  public void extend(ExtendBatch batch) {
    requireUsable();
    ledger.requireValid(batch);
    long wanted = 0;
    for (int i = 0; i < batch.size(); i++) {
      wanted += ledger.beyondReservation(batch.lease(i), batch.blocks(i));
    }
    if (wanted > availableAtLeast) {
      settle();
    }
    wanted = 0;
    granted.clear();
    for (int i = 0; i < batch.size(); i++) {
      int beyond = ledger.beyondReservation(batch.lease(i), batch.blocks(i));
      wanted += beyond;
      boolean grants = beyond == 0 || wanted <= availableAtLeast;
      batch.answer(i, grants ? 0 : wanted - availableAtLeast);
      if (grants) {
        granted.add(batch.lease(i), batch.blocks(i));
      }
    }
    if (granted.size() > 0) {
      recordExtension();
    }
  }

  private void recordExtension() {
    long blocks = 0;
    long beyond = 0;
    for (int i = 0; i < granted.size(); i++) {
      blocks += granted.blocks(i);
      beyond += ledger.beyondReservation(granted.lease(i), granted.blocks(i));
    }
    makeRoom(PoolSubmission.bytes(granted), evictedAtMost(blocks));
    submission.extend(granted, blocks > freeAtLeast);
    freeAtLeast = Math.max(0, freeAtLeast - blocks);
    availableAtLeast -= beyond;
    for (int i = 0; i < granted.size(); i++) {
      ledger.extended(granted.lease(i), granted.blocks(i));
    }
  }

  @Override
  public void commit(CommitBatch batch) {
    requireUsable();
    ledger.requireValid(batch);
    if (batch.size() == 0) {
      return;
    }
    long blocks = 0;
    for (int i = 0; i < batch.size(); i++) {
      blocks += batch.toBlock(i) - batch.fromBlock(i);
    }
    if (mirror.names() + blocks > shape.capacityBlocks()) {
      settle(); // the mirror has room for them once it knows what was evicted
    }
    makeRoom(PoolSubmission.bytes(batch, shape.tokensPerBlock()), blocks);
    submission.commit(batch);
    ledger.committed(batch);
    for (int i = 0; i < batch.size(); i++) {
      if (ledger.nameable(batch.lease(i))) {
        mirror.add(batch.sequenceHashes(i), batch.fromBlock(i), batch.toBlock(i));
      }
    }
  }

  @Override
  public void release(int[] leases, int count) {
    Objects.checkFromIndexSize(0, count, leases.length);
    requireUsable();
    ledger.requireValid(leases, count);
    if (count == 0) {
      return;
    }
    makeRoom(PoolSubmission.releaseBytes(count), 0);
    submission.release(leases, count);
    ledger.released(leases, count);
  }

  @Override
  public void clear() {
    settle();
    submission.clear();
    ledger.cleared();
    settle();
  }

  @Override
  public void submit() {
    requireUsable();
    if (submission.isOnItsWay()) {
      return;
    }
    try {
      submission.send(settled.tick());
    } catch (RuntimeException e) {
      throw lose(e);
    }
  }

  @Override
  public void complete() {
    requireUsable();
    if (submission.isOnItsWay()) {
      await();
      submission.reset();
    }
  }

  @Override
  public int drainEvents(BlockEventSink sink) {
    settle();
    long first = Math.max(drained, mirror.nextEvent() - shape.eventCapacity());
    drained = mirror.nextEvent();
    for (long number = first; number < drained; number++) {
      sink.onEvent(number, memory.event(number));
    }
    return (int) (drained - first);
  }

  @Override
  public Occupancy occupancy() {
    requireUsable();
    Occupancy now = page.tryRead(PAGE_ATTEMPTS);
    return now != null ? now : settled; // its writer may have died over it
  }

  @Override
  public int blockTable(int lease, int[] table) {
    settle();
    ledger.requireKnown(lease);
    int length = ledger.blocks(lease);
    if (length > table.length) {
      throw new IllegalArgumentException(
          "table must hold " + length + " blocks, not " + table.length);
    }
    growTo((long) length * Integer.BYTES);
    try {
      submission.read(memory.blockTable(lease), table, length);
    } catch (RuntimeException e) {
      throw lose(e);
    }
    return length;
  }

  /**
   * Where the pool lies on its device, for engines that compute in its blocks. Valid until {@link
   * #close}.
   *
   * @return addresses, and the stream on which the pool's operations run
   */
  public DeviceBlocks deviceBlocks() {
    requireUsable();
    return new DeviceBlocks(device, stream, memory.state(), memory.kv(), memory.kvBytesPerBlock());
  }

  /** Gives all memory back. The caller sees to it that no other thread still probes. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    ReleaseSteps.all(
        List.of(mirror::close, () -> device.closeStream(stream), submission::close, memory::close));
  }

  /** Where the mirror's directory lies, for {@link DirectoryProbe}. */
  long directoryAddress() {
    return mirror.directoryAddress();
  }

  /** Waits for the device, then takes over what it did: the ring is whole up to here. */
  private void await() {
    try {
      submission.await();
    } catch (RuntimeException e) {
      throw lose(e);
    }
    mirror.follow(memory.ring(), memory.shape().eventCapacity());
    if (region != null && region.snapshotWanted()) {
      region.answerSnapshots(mirror.bucketsAddress(), mirror.nextEvent());
    }
    look();
  }

  private void look() {
    Occupancy now = page.read(); // the device has written it
    settled = now;
    freeAtLeast = now.freeBlocks();
    availableAtLeast = now.availableBlocks();
  }

  /** Without a commit in between no block is evicted twice. */
  private long evictedAtMost(long wanted) {
    return Math.min(wanted, shape.capacityBlocks());
  }

  /** Sees to it that an operation can be recorded; what is recorded is settled if need be. */
  private void makeRoom(long bytes, long events) {
    if (!submission.takes(bytes, events)) {
      settle();
      growTo(bytes);
    }
    submission.expectEvents(events);
  }

  /** Sees to it that staging memory has room, with nothing recorded. */
  private void growTo(long bytes) {
    try {
      submission.makeRoom(bytes);
    } catch (FatalDeviceException e) {
      throw lose(e);
    }
  }

  private FatalDeviceException lose(RuntimeException e) {
    lost =
        e instanceof FatalDeviceException fatal
            ? fatal
            : new FatalDeviceException("the pool is lost: " + e.getMessage(), e);
    return lost;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the pool is closed");
    }
  }

  private void requireUsable() {
    requireOpen();
    if (lost != null) {
      throw new FatalDeviceException(lost.getMessage(), lost);
    }
  }
}
