package io.kvasir.engine.pool;

import io.kvasir.event.BlockEventSink;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The obvious block pool: objects, maps and full scans. It says what {@link BlockPool} means, and
 * other pools are compared with it. Most operations are O(capacity).
 *
 * <p>Lease numbers are never used twice, so that a caller who keeps one too long is found out.
 *
 * <p>Thread-safe: every method takes the pool's monitor.
 */
public final class NaiveBlockPool implements BlockPool {

  private final PoolShape shape;
  private final NaiveDirectory directory;
  private final Map<Integer, NaiveLease> leases = new HashMap<>();
  private int nextLease;
  private long tick;
  private boolean closed;

  /**
   * Makes a pool of free blocks.
   *
   * @param shape its sizes
   */
  public NaiveBlockPool(PoolShape shape) {
    this.shape = shape;
    this.directory = new NaiveDirectory(shape);
  }

  @Override
  public PoolShape shape() {
    return shape;
  }

  @Override
  public synchronized void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    requireOpen();
    for (int i = 0; i < batch.size(); i++) {
      matchedBlocks[offset + i] =
          directory.held(batch.hashes(), batch.offsets()[i], batch.offsets()[i + 1]);
    }
  }

  @Override
  public synchronized void lease(LeaseBatch batch) {
    requireOpen();
    for (int i = 0; i < batch.size(); i++) {
      require(batch.blocks(i) <= shape.maxBlocksPerLease(), "blocks", batch.blocks(i));
      requireTokens(batch.tokens(i), batch.matchableBlocks(i));
    }
    List<List<NaiveBlock>> matches = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      matches.add(
          directory.match(
              batch.tokens(i), batch.sequenceHashes(i), batch.scope(i), batch.matchableBlocks(i)));
      matches.get(i).forEach(block -> block.references++);
    }
    long available = occupancy().availableBlocks();
    int freeLeases = shape.maxLeases() - leases.size();
    int admitted = 0;
    int newBlocks = 0;
    long wanted = 0;
    for (int i = 0; i < batch.size(); i++) {
      int wantedNow = batch.blocks(i) - matches.get(i).size();
      wanted += (long) wantedNow + batch.reserveBlocks(i);
      if (wanted <= available && i < freeLeases) {
        admitted++;
        newBlocks += wantedNow;
      } else {
        batch.answer(i, LeaseBatch.REFUSED, 0, Math.max(0, wanted - available));
        matches.get(i).forEach(block -> block.references--);
      }
    }
    directory.evictFor(newBlocks);
    for (int i = 0; i < admitted; i++) {
      NaiveLease lease = new NaiveLease(batch.scope(i), matches.get(i), batch.reserveBlocks(i));
      grow(lease, batch.blocks(i));
      leases.put(nextLease, lease);
      batch.answer(i, nextLease++, lease.committed, 0);
    }
  }

  @Override
  public synchronized void extend(ExtendBatch batch) {
    requireOpen();
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < batch.size(); i++) {
      NaiveLease lease = find(batch.lease(i));
      require(seen.add(batch.lease(i)), "twice in the batch: lease", batch.lease(i));
      long length = (long) lease.table.size() + batch.blocks(i);
      require(length <= shape.maxBlocksPerLease(), "blocks", length);
    }
    long available = occupancy().availableBlocks();
    int newBlocks = 0;
    long wanted = 0;
    for (int i = 0; i < batch.size(); i++) {
      int beyond = Math.max(0, batch.blocks(i) - find(batch.lease(i)).reserved);
      wanted += beyond;
      boolean granted = beyond == 0 || wanted <= available;
      batch.answer(i, granted ? 0 : wanted - available);
      newBlocks += granted ? batch.blocks(i) : 0;
    }
    directory.evictFor(newBlocks);
    for (int i = 0; i < batch.size(); i++) {
      if (batch.granted(i)) {
        NaiveLease lease = find(batch.lease(i));
        lease.reserved = Math.max(0, lease.reserved - batch.blocks(i));
        grow(lease, lease.table.size() + batch.blocks(i));
      }
    }
  }

  @Override
  public synchronized void commit(CommitBatch batch) {
    requireOpen();
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < batch.size(); i++) {
      NaiveLease lease = find(batch.lease(i));
      require(seen.add(batch.lease(i)), "twice in the batch: lease", batch.lease(i));
      require(batch.fromBlock(i) == lease.committed, "fromBlock", batch.fromBlock(i));
      require(batch.toBlock(i) <= lease.table.size(), "toBlock", batch.toBlock(i));
      requireTokens(batch.tokens(i), batch.toBlock(i));
    }
    for (int i = 0; i < batch.size(); i++) {
      NaiveLease lease = find(batch.lease(i));
      for (int depth = batch.fromBlock(i); depth < batch.toBlock(i) && lease.mayName; depth++) {
        directory.name(lease, depth, batch.sequenceHashes(i)[depth], batch.tokens(i));
      }
      lease.committed = batch.toBlock(i);
    }
  }

  @Override
  public synchronized void release(int[] leases, int count) {
    requireOpen();
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < count; i++) {
      find(leases[i]);
      require(seen.add(leases[i]), "given twice: lease", leases[i]);
    }
    for (int i = 0; i < count; i++) {
      NaiveLease lease = this.leases.remove(leases[i]);
      stamp(lease);
      lease.table.forEach(block -> block.references--);
    }
  }

  @Override
  public synchronized void clear() {
    requireOpen();
    directory.clear();
    leases.values().forEach(lease -> lease.mayName = false);
  }

  @Override
  public synchronized int drainEvents(BlockEventSink sink) {
    requireOpen();
    return directory.drainEvents(sink);
  }

  @Override
  public synchronized Occupancy occupancy() {
    requireOpen();
    return new Occupancy(
        shape.capacityBlocks(),
        directory.count(NaiveBlock::free),
        directory.count(NaiveBlock::cached),
        directory.count(NaiveBlock::active),
        leases.values().stream().mapToLong(lease -> lease.reserved).sum(),
        directory.evictedBlocks(),
        directory.oldestEvictableTick(tick),
        tick);
  }

  @Override
  public synchronized int blockTable(int lease, int[] table) {
    requireOpen();
    List<NaiveBlock> held = find(lease).table;
    require(table.length >= held.size(), "table length", table.length);
    for (int i = 0; i < held.size(); i++) {
      table[i] = held.get(i).number;
    }
    return held.size();
  }

  @Override
  public synchronized void close() {
    closed = true;
  }

  /** Fills a lease's table with free blocks up to a length, and stamps all of it. */
  private void grow(NaiveLease lease, int length) {
    while (lease.table.size() < length) {
      lease.table.add(directory.take());
    }
    stamp(lease);
  }

  private void stamp(NaiveLease lease) {
    lease.stamp = ++tick;
    lease.table.forEach(block -> block.stamp = tick);
  }

  private NaiveLease find(int number) {
    NaiveLease lease = leases.get(number);
    require(lease != null, "lease", number);
    return lease;
  }

  private void requireTokens(int[] tokens, int fullBlocks) {
    require((long) fullBlocks * shape.tokensPerBlock() <= tokens.length, "tokens", tokens.length);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the pool is closed");
    }
  }

  private static void require(boolean condition, String what, long value) {
    if (!condition) {
      throw new IllegalArgumentException("not valid here: " + what + " " + value);
    }
  }
}
