package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Predicts which rank holds which prefix from where requests were placed, for engines that publish
 * no events. The blocks of a placed prompt are assumed held for a fixed time. Placing another
 * prompt with the same prefix restarts that time for the shared blocks.
 *
 * <p>When the blocks exceed the bound, they are pruned to a fraction of it: earliest expiry first,
 * and among equal expiries the deepest block first. A prefix therefore never loses its head before
 * its tail, because using a block also uses all blocks before it.
 *
 * <p>Thread-safe. Placements are serialised. A match takes the lock only if something has expired
 * since the last call.
 */
public final class ApproximateIndex implements PrefixIndex {

  private static final long NS_PER_MS = 1_000_000;

  /** A rank with more blocks is removed in parts, for each of which placements wait. */
  private static final int MAX_CLEARED = 1 << 15;

  /** Blocks of such a part, each of which costs more than if the rank is removed at once. */
  private static final int PART = 1 << 13;

  private final PrefixIndex index;
  private final ApproximateOptions options;
  private final LongSupplier clockNs;
  private final long startNs;
  private final Set<RankId> hidden = ConcurrentHashMap.newKeySet();

  // Guarded by this.
  private final Map<RankId, PlacedBlocks> ranks = new TreeMap<>();
  private final LongArrayList gone = new LongArrayList();
  private int blocks;
  private long expiredBlocks;
  private long prunedBlocks;

  /** No block expires before this. Written under the monitor. */
  private volatile long earliestMs = Long.MAX_VALUE;

  /**
   * Creates an index without predictions.
   *
   * @param index an empty index to fill; closed with this one
   * @param options lifetime and number of predicted blocks
   * @param clockNs a monotonic clock, in nanoseconds
   */
  public ApproximateIndex(PrefixIndex index, ApproximateOptions options, LongSupplier clockNs) {
    this.index = index;
    this.options = options;
    this.clockNs = clockNs;
    this.startNs = clockNs.getAsLong();
  }

  /**
   * Records a request placed on a rank. O(blocks); pruning adds O(pruned blocks x log ranks), once
   * per pruned fraction of the bound.
   *
   * @param rank the rank
   * @param prompt the prompt's full blocks
   * @return false if the index is full; the placement is then ignored
   */
  public synchronized boolean place(RankId rank, BlockHashes prompt) {
    long nowMs = nowMs();
    expire(nowMs);
    if (prompt.blocks() == 0) {
      return true;
    }
    ChangeStatus status = index.apply(rank, BlockEvent.Stored.named(null, prompt.sequence()));
    if (status != ChangeStatus.APPLIED && status != ChangeStatus.UNCHANGED) {
      return false;
    }
    PlacedBlocks placed = ranks.computeIfAbsent(rank, id -> new PlacedBlocks());
    blocks -= placed.size();
    placed.use(prompt.sequence(), nowMs + options.ttlMs());
    blocks += placed.size();
    earliestMs = Math.min(earliestMs, nowMs + options.ttlMs());
    if (blocks > options.maxBlocks()) {
      prune((int) (options.maxBlocks() * options.pruneRatio()));
    }
    return true;
  }

  @Override
  public void onPlaced(RankId rank, BlockHashes prompt) {
    place(rank, prompt);
  }

  /** Ignores the event: this index learns from placements only. */
  @Override
  public ChangeStatus apply(RankId rank, BlockEvent event) {
    return ChangeStatus.UNCHANGED;
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    if (visible) {
      hidden.remove(rank);
    } else {
      hidden.add(rank);
    }
  }

  @Override
  public void match(long[] sequenceHashes, int count, RankMatches matches) {
    long nowMs = nowMs();
    if (nowMs >= earliestMs) {
      synchronized (this) {
        expire(nowMs);
      }
    }
    index.match(sequenceHashes, count, matches);
    if (!hidden.isEmpty()) {
      matches.retain(rank -> !hidden.contains(rank));
    }
  }

  /** {@inheritDoc} Placements wait no longer than for {@value #MAX_CLEARED} blocks. */
  @Override
  public void removeRank(RankId rank) {
    while (!removeSome(rank)) {
      LockSupport.parkNanos(1_000); // placements that wait for the lock come first
    }
  }

  /** Removes a rank, or a part of its blocks; true if it has none any more. */
  private synchronized boolean removeSome(RankId rank) {
    PlacedBlocks placed = ranks.get(rank);
    if (placed != null && placed.size() > MAX_CLEARED) {
      placed.takeFirst(PART, gone);
      return remove(rank, placed);
    }
    hidden.remove(rank);
    if (placed != null) {
      ranks.remove(rank);
      blocks -= placed.size();
      index.removeRank(rank);
    }
    return true;
  }

  /**
   * {@return the number of pairs of a rank and a block that it is predicted to hold, at most the
   * bound}
   */
  public synchronized int blocks() {
    expire(nowMs());
    return blocks;
  }

  /** {@return the number of blocks that have expired so far, at least 0} */
  public synchronized long expiredBlocks() {
    return expiredBlocks;
  }

  /** {@return the number of blocks pruned so far to stay within the bound, at least 0} */
  public synchronized long prunedBlocks() {
    return prunedBlocks;
  }

  @Override
  public IndexStats stats() {
    return index.stats();
  }

  private long nowMs() {
    return (clockNs.getAsLong() - startNs) / NS_PER_MS;
  }

  private void expire(long nowMs) {
    if (nowMs < earliestMs) {
      return;
    }
    long earliest = Long.MAX_VALUE;
    for (Iterator<Map.Entry<RankId, PlacedBlocks>> i = ranks.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<RankId, PlacedBlocks> rank = i.next();
      rank.getValue().takeExpired(nowMs, gone);
      expiredBlocks += gone.size();
      if (remove(rank.getKey(), rank.getValue())) {
        i.remove();
      } else {
        earliest = Math.min(earliest, rank.getValue().earliestMs());
      }
    }
    earliestMs = earliest;
  }

  /**
   * Takes the next block of all ranks, again and again. O(pruned blocks x log ranks), where few
   * blocks have the same expiry.
   */
  private void prune(int target) {
    PriorityQueue<Pruned> queue = new PriorityQueue<>();
    for (Map.Entry<RankId, PlacedBlocks> rank : ranks.entrySet()) {
      queue.add(new Pruned(rank.getKey(), rank.getValue()));
    }
    List<Pruned> all = List.copyOf(queue);
    for (int left = blocks - target; left > 0; left--) {
      Pruned first = queue.remove();
      first.take();
      if (!first.walk.isOver()) {
        queue.add(first);
      }
    }
    for (Pruned each : all) {
      each.placed.removeAll(each.hashes);
      gone.addAll(each.hashes);
      prunedBlocks += gone.size();
      if (remove(each.rank, each.placed)) {
        ranks.remove(each.rank);
      }
    }
  }

  /** A rank while it is pruned; ordered by its next block. */
  private static final class Pruned implements Comparable<Pruned> {
    private final RankId rank;
    private final PlacedBlocks placed;
    private final PlacedBlocks.Walk walk;
    private final LongArrayList hashes = new LongArrayList();

    Pruned(RankId rank, PlacedBlocks placed) {
      this.rank = rank;
      this.placed = placed;
      this.walk = placed.walk();
    }

    void take() {
      hashes.add(walk.take());
    }

    @Override
    public int compareTo(Pruned other) {
      int order = Long.compare(walk.standing(), other.walk.standing());
      return order == 0 ? rank.compareTo(other.rank) : order;
    }
  }

  /** Removes blocks from a rank in the index; true if the rank holds nothing any more. */
  private boolean remove(RankId rank, PlacedBlocks left) {
    blocks -= gone.size();
    if (left.size() == 0) {
      index.removeRank(rank);
    } else if (!gone.isEmpty()) {
      index.apply(rank, BlockEvent.Removed.of(gone.toLongArray()));
    }
    gone.clear();
    return left.size() == 0;
  }

  @Override
  public void close() {
    index.close();
  }
}
