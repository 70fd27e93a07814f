package io.kvasir.pool;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Occupancy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The obvious block pool: objects, maps and full scans. It says what {@link BlockPool} means, and
 * other pools are compared with it. Most operations are O(capacity).
 *
 * <p>Lease numbers are never used twice, so that a caller who keeps one too long is found out.
 *
 * <p>Thread-safe: every method takes the pool's monitor.
 */
public final class NaiveBlockPool implements BlockPool {

  /** What goes first: least recently used, then deepest, then smallest name. */
  private static final Comparator<Block> EVICTION_ORDER =
      Comparator.<Block>comparingLong(block -> block.stamp)
          .thenComparing(block -> -block.depth)
          .thenComparing(block -> block.name, Long::compareUnsigned);

  private final PoolShape shape;
  private final List<Block> blocks = new ArrayList<>();
  private final Map<Long, Block> named = new HashMap<>();
  private final Map<Integer, Lease> leases = new HashMap<>();
  private final ArrayDeque<BlockEvent> events = new ArrayDeque<>();
  private int nextLease;
  private long nextEvent;
  private long tick;
  private long evictedBlocks;
  private boolean closed;

  /**
   * Makes a pool of free blocks.
   *
   * @param shape its sizes
   */
  public NaiveBlockPool(PoolShape shape) {
    this.shape = shape;
    for (int number = 0; number < shape.capacityBlocks(); number++) {
      blocks.add(new Block(number));
    }
  }

  @Override
  public PoolShape shape() {
    return shape;
  }

  @Override
  public synchronized void probe(ProbeBatch batch, int[] matchedBlocks, int offset) {
    requireOpen();
    for (int i = 0; i < batch.size(); i++) {
      int begin = batch.offsets()[i];
      int end = batch.offsets()[i + 1];
      int held = 0;
      while (begin + held < end && named.containsKey(batch.hashes()[begin + held])) {
        held++;
      }
      matchedBlocks[offset + i] = held;
    }
  }

  @Override
  public synchronized void lease(LeaseBatch batch) {
    requireOpen();
    for (int i = 0; i < batch.size(); i++) {
      require(batch.blocks(i) <= shape.maxBlocksPerLease(), "blocks", batch.blocks(i));
      requireTokens(batch.tokens(i), batch.matchableBlocks(i));
    }
    List<List<Block>> matches = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      matches.add(match(batch, i));
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
    evictShortfall(newBlocks);
    for (int i = 0; i < admitted; i++) {
      Lease lease = new Lease(batch.scope(i), matches.get(i), batch.reserveBlocks(i));
      grow(lease, batch.blocks(i));
      leases.put(nextLease, lease);
      batch.answer(i, nextLease++, lease.committed, 0);
    }
  }

  /** The blocks that request {@code i} may share, from the root on. */
  private List<Block> match(LeaseBatch batch, int i) {
    List<Block> found = new ArrayList<>();
    Block parent = null;
    for (int depth = 0; depth < batch.matchableBlocks(i); depth++) {
      Block block = named.get(batch.sequenceHashes(i)[depth]);
      if (block == null || !block.holds(tokens(batch.tokens(i), depth), batch.scope(i), parent)) {
        break;
      }
      found.add(block);
      parent = block;
    }
    return found;
  }

  @Override
  public synchronized void extend(ExtendBatch batch) {
    requireOpen();
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < batch.size(); i++) {
      Lease lease = find(batch.lease(i));
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
    evictShortfall(newBlocks);
    for (int i = 0; i < batch.size(); i++) {
      if (batch.granted(i)) {
        Lease lease = find(batch.lease(i));
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
      Lease lease = find(batch.lease(i));
      require(seen.add(batch.lease(i)), "twice in the batch: lease", batch.lease(i));
      require(batch.fromBlock(i) == lease.committed, "fromBlock", batch.fromBlock(i));
      require(batch.toBlock(i) <= lease.table.size(), "toBlock", batch.toBlock(i));
      requireTokens(batch.tokens(i), batch.toBlock(i));
    }
    for (int i = 0; i < batch.size(); i++) {
      Lease lease = find(batch.lease(i));
      for (int depth = batch.fromBlock(i); depth < batch.toBlock(i); depth++) {
        if (lease.mayName) {
          name(lease, depth, batch.sequenceHashes(i)[depth], tokens(batch.tokens(i), depth));
        }
      }
      lease.committed = batch.toBlock(i);
    }
  }

  /** Names one block of a lease, or shares the block that has the name, or gives up for good. */
  private void name(Lease lease, int depth, long name, int[] tokens) {
    Block own = lease.table.get(depth);
    Block parent = depth == 0 ? null : lease.table.get(depth - 1);
    Block holder = named.get(name);
    if (holder == null) {
      own.named = true;
      own.name = name;
      own.tokens = tokens;
      own.scope = lease.scope;
      own.parent = parent;
      own.depth = depth;
      named.put(name, own);
      emit(new BlockEvent.Stored(nextEvent, name, parent == null ? 0 : parent.name, depth));
    } else if (holder.holds(tokens, lease.scope, parent)) {
      own.references--;
      holder.references++;
      holder.stamp = Math.max(holder.stamp, lease.stamp);
      lease.table.set(depth, holder);
    } else {
      lease.mayName = false;
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
      Lease lease = this.leases.remove(leases[i]);
      stamp(lease);
      lease.table.forEach(block -> block.references--);
    }
  }

  @Override
  public synchronized void clear() {
    requireOpen();
    named.values().forEach(Block::forget);
    named.clear();
    leases.values().forEach(lease -> lease.mayName = false);
    emit(new BlockEvent.Cleared(nextEvent));
  }

  @Override
  public synchronized int drainEvents(Consumer<BlockEvent> sink) {
    requireOpen();
    int drained = events.size();
    events.forEach(sink);
    events.clear();
    return drained;
  }

  @Override
  public synchronized Occupancy occupancy() {
    requireOpen();
    return new Occupancy(
        shape.capacityBlocks(),
        blocks.stream().filter(Block::free).count(),
        blocks.stream().filter(Block::cached).count(),
        blocks.stream().filter(Block::active).count(),
        leases.values().stream().mapToLong(lease -> lease.reserved).sum(),
        evictedBlocks,
        blocks.stream().filter(Block::cached).mapToLong(block -> block.stamp).min().orElse(tick),
        tick);
  }

  @Override
  public synchronized int blockTable(int lease, int[] table) {
    requireOpen();
    List<Block> held = find(lease).table;
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
  private void grow(Lease lease, int length) {
    while (lease.table.size() < length) {
      Block block = blocks.stream().filter(Block::free).findFirst().orElseThrow();
      block.references = 1;
      lease.table.add(block);
    }
    stamp(lease);
  }

  private void stamp(Lease lease) {
    lease.stamp = ++tick;
    lease.table.forEach(block -> block.stamp = tick);
  }

  private void evictShortfall(int newBlocks) {
    long shortfall = Math.max(0, newBlocks - occupancy().freeBlocks());
    List<Block> victims =
        blocks.stream().filter(Block::cached).sorted(EVICTION_ORDER).limit(shortfall).toList();
    for (Block victim : victims) {
      named.remove(victim.name);
      emit(new BlockEvent.Removed(nextEvent, victim.name));
      victim.forget();
      evictedBlocks++;
    }
  }

  private void emit(BlockEvent event) {
    nextEvent++;
    events.addLast(event);
    if (events.size() > shape.eventCapacity()) {
      events.removeFirst();
    }
  }

  private int[] tokens(int[] tokens, int depth) {
    int perBlock = shape.tokensPerBlock();
    return Arrays.copyOfRange(tokens, depth * perBlock, (depth + 1) * perBlock);
  }

  private Lease find(int number) {
    Lease lease = leases.get(number);
    require(lease != null, "lease", number);
    return lease;
  }

  private void requireTokens(int[] tokens, int fullBlocks) {
    require(
        (long) fullBlocks * shape.tokensPerBlock() <= tokens.length, "tokens", tokens.length);
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

  private static final class Block {
    final int number;
    int references;
    long stamp;
    boolean named;
    long name;
    int[] tokens;
    CacheScope scope;
    Block parent;
    int depth;

    Block(int number) {
      this.number = number;
    }

    boolean free() {
      return references == 0 && !named;
    }

    boolean cached() {
      return references == 0 && named;
    }

    boolean active() {
      return references > 0;
    }

    boolean holds(int[] otherTokens, CacheScope otherScope, Block otherParent) {
      return parent == otherParent
          && scope.equals(otherScope)
          && Arrays.equals(tokens, otherTokens);
    }

    void forget() {
      named = false;
      tokens = null;
      scope = null;
      parent = null;
    }
  }

  private static final class Lease {
    final CacheScope scope;
    final List<Block> table;
    int reserved;
    int committed;
    long stamp;
    boolean mayName = true;

    Lease(CacheScope scope, List<Block> matched, int reserved) {
      this.scope = scope;
      this.table = new ArrayList<>(matched);
      this.committed = matched.size();
      this.reserved = reserved;
    }
  }
}
