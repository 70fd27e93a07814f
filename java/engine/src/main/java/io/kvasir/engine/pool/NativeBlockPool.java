package io.kvasir.engine.pool;

import io.kvasir.event.BlockEventSink;
import io.kvasir.internal.nativelib.PoolLibrary;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A block pool in host memory, implemented in the native library; see {@code block_pool.hpp}.
 *
 * <p>Memory outside the heap, per block: a 64-byte record, the tokens (4 bytes each), 4 bytes of
 * free stack and 24 bytes of directory; per lease its table (4 bytes for each of {@code
 * maxBlocksPerLease}, backed by physical memory on first use). Each operation is one native call.
 */
public final class NativeBlockPool implements BlockPool {

  private static final Logger LOG = LoggerFactory.getLogger(NativeBlockPool.class);
  private static final Cleaner LEAKS = Cleaner.create();
  private static final int EVENTS_PER_CALL = 1024;

  private final PoolShape shape;

  /** Memory that other processes read; null if the pool is not shared. */
  private final PoolRegion region;

  private final PoolStaging staging;
  private final OccupancyPage page;
  private final Ownership ownership;
  private final long directory;

  /** 0 after close; volatile because other threads read it. */
  private volatile long address;

  private NativeBlockPool(PoolShape shape, PoolRegion region, PoolStaging staging, long address) {
    this.shape = shape;
    this.region = region;
    this.staging = staging;
    this.address = address;
    this.directory = PoolLibrary.kvasir_pool_directory(address);
    this.page = new OccupancyPage(PoolLibrary.kvasir_pool_page(address));
    this.ownership = new Ownership(shape);
    LEAKS.register(this, ownership);
  }

  /**
   * Makes a pool. All its memory is reserved now; the system backs it on first use.
   *
   * @param shape its sizes
   * @return the pool; the caller closes it
   * @throws OutOfMemoryError if there is too little address space
   */
  public static NativeBlockPool create(PoolShape shape) {
    return create(shape, null);
  }

  /**
   * Makes a pool whose occupancy and events other processes can read. Operations also write the
   * snapshots that readers request.
   *
   * @param region the memory that they read, with the pool's shape; it serves only this pool, and
   *     the caller closes it after the pool
   * @return the pool; the caller closes it
   * @throws IllegalStateException if the region is closed or serves another pool
   * @throws OutOfMemoryError if there is too little address space
   */
  public static NativeBlockPool create(PoolRegion region) {
    region.claim();
    return create(region.shape(), region);
  }

  private static NativeBlockPool create(PoolShape shape, PoolRegion region) {
    // Allocated first, so that a failure here does not leak a native pool.
    PoolStaging staging = new PoolStaging(shape.tokensPerBlock());
    try {
      return new NativeBlockPool(
          shape,
          region,
          staging,
          PoolLibrary.kvasir_pool_create(
              shape.capacityBlocks(),
              shape.tokensPerBlock(),
              shape.maxLeases(),
              shape.maxBlocksPerLease(),
              shape.eventCapacity(),
              region == null ? 0 : region.pageAddress(),
              region == null ? 0 : region.ringAddress()));
    } catch (RuntimeException e) {
      OutOfMemoryError error = new OutOfMemoryError("no memory for a pool of " + shape);
      error.initCause(e);
      throw error;
    }
  }

  @Override
  public PoolShape shape() {
    return shape;
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    Objects.checkFromIndexSize(offset, batch.size(), matchedBlocks.length);
    try {
      PoolLibrary.kvasir_directory_probe(
          directoryAddress(),
          batch.hashesAddress(),
          batch.offsetsAddress(),
          batch.size(),
          matchedBlocks,
          offset);
    } finally {
      Reference.reachabilityFence(batch);
    }
  }

  @Override
  public void lease(LeaseBatch batch) {
    long pool = address();
    for (int i = 0; i < batch.size(); i++) {
      PoolRefusal.requireTokens(batch.tokens(i), batch.matchableBlocks(i), shape);
    }
    check(PoolLibrary.kvasir_pool_lease(pool, staging.stage(batch), batch.size()));
    staging.readAnswers(batch);
    serveSnapshots();
  }

  @Override
  public void extend(ExtendBatch batch) {
    check(PoolLibrary.kvasir_pool_extend(address(), staging.stage(batch), batch.size()));
    staging.readAnswers(batch);
    serveSnapshots();
  }

  @Override
  public void commit(CommitBatch batch) {
    long pool = address();
    for (int i = 0; i < batch.size(); i++) {
      PoolRefusal.requireTokens(batch.tokens(i), batch.toBlock(i), shape);
    }
    try {
      check(PoolLibrary.kvasir_pool_commit(pool, staging.stage(batch), batch.size()));
    } finally {
      Reference.reachabilityFence(staging);
    }
    serveSnapshots();
  }

  @Override
  public void release(int[] leases, int count) {
    Objects.checkFromIndexSize(0, count, leases.length);
    check(PoolLibrary.kvasir_pool_release(address(), leases, count));
    serveSnapshots();
  }

  @Override
  public void clear() {
    PoolLibrary.kvasir_pool_clear(address());
    serveSnapshots();
  }

  /**
   * Writes a snapshot if readers in other processes wait for one. Every operation ends with this;
   * an idle rank should call it periodically. On the rank's executor thread. One load if no reader
   * waits, else O(capacity) and a file write.
   *
   * @throws IllegalStateException if the pool is closed
   */
  public void serveSnapshots() {
    address();
    if (region != null && region.snapshotWanted()) {
      region.answerSnapshots(PoolLibrary.kvasir_directory_buckets(directory), region.nextEvent());
    }
  }

  @Override
  public int drainEvents(BlockEventSink sink) {
    int drained = 0;
    while (true) {
      int count =
          PoolLibrary.kvasir_pool_drain_events(
              address(), staging.roomForEvents(EVENTS_PER_CALL), EVENTS_PER_CALL);
      staging.readEvents(count, sink);
      drained += count;
      if (count < EVENTS_PER_CALL) {
        return drained;
      }
    }
  }

  @Override
  public Occupancy occupancy() {
    address();
    return page.read();
  }

  @Override
  public int blockTable(int lease, int[] table) {
    int length = PoolLibrary.kvasir_pool_block_table(address(), lease, table, table.length);
    if (length < 0) {
      throw new IllegalArgumentException("lease " + lease + " is unknown");
    }
    if (length > table.length) {
      throw new IllegalArgumentException(
          "table must hold " + length + " blocks, not " + table.length);
    }
    return length;
  }

  /** Frees the pool. Callers must ensure that no other thread is probing. */
  @Override
  public void close() {
    if (address != 0) {
      PoolLibrary.kvasir_pool_destroy(address);
      address = 0;
      ownership.closed = true;
    }
  }

  /** Address of the pool's directory, for {@link DirectoryProbe}; valid until {@link #close}. */
  long directoryAddress() {
    address();
    return directory;
  }

  private long address() {
    if (address == 0) {
      throw new IllegalStateException("the pool is closed");
    }
    return address;
  }

  private void check(long result) {
    if (result != 0) {
      throw PoolRefusal.of((int) (result >>> 32), (int) result, shape);
    }
  }

  /** Logs a pool that became unreachable without being closed. */
  private static final class Ownership implements Runnable {
    private final PoolShape shape;
    private volatile boolean closed;

    Ownership(PoolShape shape) {
      this.shape = shape;
    }

    @Override
    public void run() {
      if (!closed) {
        LOG.warn("A block pool was never closed: {}", shape);
      }
    }
  }
}
