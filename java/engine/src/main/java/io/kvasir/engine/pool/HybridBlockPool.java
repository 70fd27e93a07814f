package io.kvasir.engine.pool;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.BlockEventSink;
import java.util.List;

/**
 * A pool of a hybrid model: a pool for the group with full attention, and what further groups hold
 * of the same blocks.
 *
 * <p>A prefix can be reused as far as all groups allow: full attention needs all of its blocks, a
 * window the last ones, recurrent layers the state at its end. Look-ups and leases match that far
 * only, and the rest is computed again. Blocks that the pool holds behind a match are committed
 * under their names again, so there are no copies of them.
 *
 * <p>Each further group has room for as many blocks as the pool. Blocks beyond the needs of leases
 * are evicted by age, whatever the pool still holds: engines share one room between groups.
 *
 * <p>Its events are those of the pool, then those of the groups ({@link BlockEvent.GroupStored},
 * {@link BlockEvent.GroupRemoved}), whose hashes and handles are sequence hashes too. The groups
 * have numbers from 1 in the order of their list.
 *
 * <p>Threads: as the pool. Owns the pool.
 */
public final class HybridBlockPool implements BlockPool {

  private final BlockPool full;
  private final FurtherGroups groups;
  private final ProbeBatch probe = new ProbeBatch();
  private int[] limits = new int[8];
  private int[] asked = new int[8];

  /* Numbers of events: the next one of this pool, and of the pool with full attention. */
  private long nextEvent;
  private long nextOfFull;

  /**
   * Adds groups to an empty pool.
   *
   * @param full the pool; closed with this one
   * @param further the groups besides full attention
   * @throws IllegalArgumentException if states are not kept at the ends of the pool's blocks
   */
  public HybridBlockPool(BlockPool full, List<PoolGroup> further) {
    this.full = full;
    this.groups = new FurtherGroups(further, full.shape());
  }

  /** The longest prefix of at most so many blocks that the further groups allow. Any thread. */
  int limit(long[] hashes, int from, int blocks) {
    return groups.limit(hashes, from, blocks);
  }

  @Override
  public PoolShape shape() {
    return full.shape();
  }

  @Override
  public void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    full.probe(batch, matchedBlocks, offset);
    long[] hashes = batch.hashes();
    int[] offsets = batch.offsets();
    for (int i = 0; i < batch.size(); i++) {
      matchedBlocks[offset + i] = limit(hashes, offsets[i], matchedBlocks[offset + i]);
    }
  }

  @Override
  public void lease(LeaseBatch batch) {
    limitMatches(batch);
    try {
      full.lease(batch);
    } finally {
      restoreMatches(batch);
    }
    begin(batch);
  }

  @Override
  public void lease(LeaseBatch batch, ExtendBatch reserved) {
    limitMatches(batch);
    try {
      full.lease(batch, reserved);
    } finally {
      restoreMatches(batch);
    }
    begin(batch);
  }

  private void limitMatches(LeaseBatch batch) {
    full.settle(); // so that the probe finds what the lease will find
    probe.clear();
    for (int i = 0; i < batch.size(); i++) {
      probe.add(batch.sequenceHashes(i), batch.matchableBlocks(i));
    }
    if (limits.length < batch.size()) {
      limits = new int[2 * batch.size()];
      asked = new int[limits.length];
    }
    full.probe(probe, limits, 0);
    for (int i = 0; i < batch.size(); i++) {
      int limit = limit(batch.sequenceHashes(i), 0, limits[i]);
      asked[i] = batch.matchableBlocks(i);
      if (limit < limits[i]) {
        limits[i] = limit;
        batch.matchableBlocks(i, limit);
      }
    }
  }

  private void restoreMatches(LeaseBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      batch.matchableBlocks(i, asked[i]);
    }
  }

  /** The blocks of a lease that matches less, because hashes collide, get no names. */
  private void begin(LeaseBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (batch.lease(i) != LeaseBatch.REFUSED && batch.matchedBlocks(i) == limits[i]) {
        groups.begin(batch.lease(i), batch.sequenceHashes(i), limits[i]);
      }
    }
  }

  @Override
  public void extend(ExtendBatch batch) {
    full.extend(batch);
  }

  @Override
  public void commit(CommitBatch batch) {
    full.commit(batch);
    for (int i = 0; i < batch.size(); i++) {
      groups.advance(batch.lease(i), batch.sequenceHashes(i), batch.toBlock(i));
    }
  }

  @Override
  public void release(int[] leases, int count) {
    full.release(leases, count);
    for (int i = 0; i < count; i++) {
      groups.end(leases[i]);
    }
  }

  @Override
  public void clear() {
    full.clear();
    groups.clear();
  }

  @Override
  public void submit() {
    full.submit();
  }

  @Override
  public void complete() {
    full.complete();
  }

  @Override
  public void settle() {
    full.settle();
  }

  @Override
  public int drainEvents(BlockEventSink sink) {
    int passed =
        full.drainEvents(
            (eventId, event) -> {
              nextEvent += eventId - nextOfFull;
              nextOfFull = eventId + 1;
              sink.onEvent(nextEvent++, event);
            });
    nextEvent += groups.takeLost();
    return passed + groups.drain(event -> sink.onEvent(nextEvent++, event));
  }

  @Override
  public Occupancy occupancy() {
    return full.occupancy();
  }

  @Override
  public int blockTable(int lease, int[] table) {
    return full.blockTable(lease, table);
  }

  @Override
  public void handOver() {
    full.handOver();
  }

  @Override
  public void close() {
    full.close();
  }
}
