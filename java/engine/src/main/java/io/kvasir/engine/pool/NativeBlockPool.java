package io.kvasir.engine.pool;

import io.kvasir.event.BlockEventSink;
import io.kvasir.internal.nativelib.NativeStatus;
import io.kvasir.internal.nativelib.PoolLibrary;
import io.kvasir.model.NativeMemoryError;
import java.lang.ref.Reference;
import java.util.Locale;
import java.util.Objects;

/**
 * A block pool in host memory, implemented in the native library; see {@code block_pool.hpp}.
 *
 * <p>Memory outside the heap, per block: a 64-byte record, the tokens (4 bytes each), 4 bytes of
 * free stack and 24 bytes of directory; per lease its table (4 bytes for each of {@code
 * maxBlocksPerLease}, backed by physical memory on first use). Each operation is one native call.
 */
public final class NativeBlockPool implements BlockPool {

  private static final int EVENTS_PER_CALL = 1024;

  /** Record, free stack and directory of a block, without its tokens. */
  private static final int BYTES_PER_BLOCK = 64 + 4 + 24;

  private final PoolShape shape;

  private final PoolStaging staging;
  private final OccupancyPage page;
  private final PoolGuard guard;
  private final DirectoryView directory;

  private NativeBlockPool(PoolShape shape, PoolStaging staging, long address) {
    this.shape = shape;
    this.staging = staging;
    this.guard = new PoolGuard("block pool", address);
    this.directory = new DirectoryView(guard.handle(), PoolLibrary.kvasir_pool_directory(address));
    this.page = new OccupancyPage(PoolLibrary.kvasir_pool_page(address));
  }

  /**
   * Makes a pool. All its memory is reserved now; the system backs it on first use.
   *
   * @param shape its sizes
   * @return the pool; the caller closes it
   * @throws NativeMemoryError if there is too little address space
   */
  public static NativeBlockPool create(PoolShape shape) {
    // Allocated first, so that a failure here does not leak a native pool.
    PoolStaging staging = new PoolStaging(shape.tokensPerBlock());
    long address =
        PoolLibrary.kvasir_pool_create(
            shape.capacityBlocks(),
            shape.tokensPerBlock(),
            shape.maxLeases(),
            shape.maxBlocksPerLease(),
            shape.eventCapacity());
    return new NativeBlockPool(shape, staging, NativeStatus.require(address, described(shape)));
  }

  /** A pool for errors. */
  private static String described(PoolShape shape) {
    long bytesPerBlock = BYTES_PER_BLOCK + (long) Integer.BYTES * shape.tokensPerBlock();
    return String.format(
        Locale.ROOT,
        "a pool of %,d blocks of %d tokens, %,d bytes",
        shape.capacityBlocks(),
        shape.tokensPerBlock(),
        shape.capacityBlocks() * bytesPerBlock);
  }

  @Override
  public PoolShape shape() {
    return shape;
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    Objects.checkFromIndexSize(offset, batch.size(), matchedBlocks.length);
    guard.enter();
    try {
      PoolLibrary.kvasir_directory_probe(
          directory.address(),
          batch.hashesAddress(),
          batch.offsetsAddress(),
          batch.size(),
          matchedBlocks,
          offset);
    } finally {
      guard.leave();
      Reference.reachabilityFence(batch);
    }
  }

  @Override
  public void lease(LeaseBatch batch) {
    long pool = guard.enterAsOwner();
    try {
      for (int i = 0; i < batch.size(); i++) {
        PoolRefusal.requireTokens(batch.tokens(i), batch.matchableBlocks(i), shape);
      }
      check(PoolLibrary.kvasir_pool_lease(pool, staging.stage(batch), batch.size()));
      staging.readAnswers(batch);
    } finally {
      guard.leave();
    }
  }

  @Override
  public void extend(ExtendBatch batch) {
    long pool = guard.enterAsOwner();
    try {
      check(PoolLibrary.kvasir_pool_extend(pool, staging.stage(batch), batch.size()));
      staging.readAnswers(batch);
    } finally {
      guard.leave();
    }
  }

  @Override
  public void commit(CommitBatch batch) {
    long pool = guard.enterAsOwner();
    try {
      for (int i = 0; i < batch.size(); i++) {
        PoolRefusal.requireTokens(batch.tokens(i), batch.toBlock(i), shape);
      }
      check(PoolLibrary.kvasir_pool_commit(pool, staging.stage(batch), batch.size()));
    } finally {
      guard.leave();
      Reference.reachabilityFence(staging);
    }
  }

  @Override
  public void release(int[] leases, int count) {
    Objects.checkFromIndexSize(0, count, leases.length);
    long pool = guard.enterAsOwner();
    try {
      check(PoolLibrary.kvasir_pool_release(pool, leases, count));
    } finally {
      guard.leave();
    }
  }

  @Override
  public void clear() {
    long pool = guard.enterAsOwner();
    try {
      PoolLibrary.kvasir_pool_clear(pool);
    } finally {
      guard.leave();
    }
  }

  @Override
  public int drainEvents(BlockEventSink sink) {
    long pool = guard.enterAsOwner();
    try {
      int drained = 0;
      while (true) {
        int count =
            PoolLibrary.kvasir_pool_drain_events(
                pool, staging.roomForEvents(EVENTS_PER_CALL), EVENTS_PER_CALL);
        staging.readEvents(count, sink);
        drained += count;
        if (count < EVENTS_PER_CALL) {
          return drained;
        }
      }
    } finally {
      guard.leave();
    }
  }

  @Override
  public Occupancy occupancy() {
    guard.enter();
    try {
      return page.read();
    } finally {
      guard.leave();
    }
  }

  @Override
  public int blockTable(int lease, int[] table) {
    long pool = guard.enterAsOwner();
    try {
      int length = PoolLibrary.kvasir_pool_block_table(pool, lease, table, table.length);
      if (length < 0) {
        throw new IllegalArgumentException("lease " + lease + " is unknown");
      }
      if (length > table.length) {
        throw new IllegalArgumentException(
            "table must hold " + length + " blocks, not " + table.length);
      }
      return length;
    } finally {
      guard.leave();
    }
  }

  @Override
  public void handOver() {
    guard.handOver();
  }

  @Override
  public void close() {
    long pool = guard.close();
    if (pool != 0) {
      PoolLibrary.kvasir_pool_destroy(pool);
    }
  }

  /** The pool's directory, for {@link DirectoryProbe}. */
  DirectoryView directory() {
    return directory;
  }

  private void check(long result) {
    if (result != 0) {
      throw PoolRefusal.of((int) (result >>> 32), (int) result, shape);
    }
  }
}
