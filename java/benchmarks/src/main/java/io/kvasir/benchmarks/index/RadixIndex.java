package io.kvasir.benchmarks.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;

/**
 * The baseline: a path-compressed radix tree over sequence hashes of the {@code kvasir} format.
 *
 * <p>A node is a run of blocks. A rank holds some leading blocks of a run; a missing block splits
 * the run. A look-up descends run by run with a shrinking set of ranks, and ends when the prompt
 * leaves the tree or the set is empty. Runs grow in place at leaves, are truncated where no rank
 * holds their end, and are never merged again. A block is identified by its path.
 *
 * <p>Thread-safe: a read-write lock is held for each call. Unlike the contract of {@link
 * PrefixIndex}, matches wait for changes. Memory is not capped. {@link #stats} visits every node.
 */
final class RadixIndex implements PrefixIndex {

  private static final ThreadLocal<RadixMatch> MATCHING = ThreadLocal.withInitial(RadixMatch::new);

  private final StampedLock lock = new StampedLock();
  private final RadixTree tree = new RadixTree();
  private final Map<RankId, RadixRank> ranks = new HashMap<>();
  private final Set<RankId> hidden = new HashSet<>();
  private final RadixRanks slots = new RadixRanks();
  private final LongOpenHashSet handles = new LongOpenHashSet();
  private long[] hashes = new long[64];

  @Override
  public ChangeStatus apply(RankId id, BlockEvent event) {
    long stamp = lock.writeLock();
    try {
      if (event instanceof BlockEvent.Stored stored) {
        return store(id, stored);
      }
      RadixRank rank = ranks.get(id);
      if (event instanceof BlockEvent.Removed removed) {
        return remove(rank, removed.handles());
      }
      if (event instanceof BlockEvent.Aliased
          || event instanceof BlockEvent.GroupStored
          || event instanceof BlockEvent.GroupRemoved) {
        throw new IllegalArgumentException("the radix tree has one handle for each block");
      }
      if (rank == null || rank.places.isEmpty()) {
        return ChangeStatus.UNCHANGED;
      }
      tree.clear(rank);
      return ChangeStatus.APPLIED;
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  private ChangeStatus store(RankId id, BlockEvent.Stored stored) {
    if (hasTwice(stored)) {
      return ChangeStatus.INVALID_SEQUENCE;
    }
    RadixRank rank = ranks.get(id);
    long place = RadixRank.NOTHING;
    if (!stored.root()) {
      place = rank == null ? RadixRank.NOTHING : rank.places.get(stored.parentHandle());
      if (place == RadixRank.NOTHING) {
        return ChangeStatus.UNKNOWN_PARENT;
      }
    }
    int count = stored.handles().length;
    if (count == 0) {
      return ChangeStatus.UNCHANGED;
    }
    if (rank == null) {
      rank = slots.add(id, !hidden.contains(id));
      ranks.put(id, rank);
    }
    return tree.store(rank, place, stored.handles(), sequenceHashes(stored, place), count)
        ? ChangeStatus.APPLIED
        : ChangeStatus.UNCHANGED;
  }

  private long[] sequenceHashes(BlockEvent.Stored stored, long place) {
    if (stored.sequenceHashes() != null) {
      return stored.sequenceHashes();
    }
    int count = stored.handles().length;
    if (hashes.length < count) {
      hashes = new long[2 * count];
    }
    long parent =
        !stored.root()
            ? tree.hash(place)
            : stored.rootHash() == 0 ? SequenceChain.ROOT : stored.rootHash();
    SequenceChain.chain(parent, stored.hashes(), count, hashes);
    return hashes;
  }

  private boolean hasTwice(BlockEvent.Stored stored) {
    handles.clear();
    if (!stored.root()) {
      handles.add(stored.parentHandle());
    }
    for (long handle : stored.handles()) {
      if (!handles.add(handle)) {
        return true;
      }
    }
    return false;
  }

  private ChangeStatus remove(@Nullable RadixRank rank, long[] removed) {
    if (removed.length == 0) {
      return ChangeStatus.UNCHANGED;
    }
    boolean all = rank != null;
    if (rank != null) {
      all = tree.remove(rank, removed);
    }
    return all ? ChangeStatus.APPLIED : ChangeStatus.UNKNOWN_BLOCK;
  }

  @Override
  public void removeRank(RankId id) {
    long stamp = lock.writeLock();
    try {
      hidden.remove(id);
      RadixRank rank = ranks.remove(id);
      if (rank != null) {
        tree.clear(rank);
        slots.remove(rank);
      }
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  @Override
  public void setVisible(RankId id, boolean visible) {
    long stamp = lock.writeLock();
    try {
      if (visible) {
        hidden.remove(id);
      } else {
        hidden.add(id);
      }
      RadixRank rank = ranks.get(id);
      if (rank != null) {
        rank.visible = visible;
      }
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  @Override
  public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
    RadixMatch match = MATCHING.get();
    long stamp = lock.readLock();
    try {
      match.find(tree.root(), slots, sequenceHashes, blocks, matches);
    } finally {
      lock.unlockRead(stamp);
    }
  }

  @Override
  public IndexStats stats() {
    long stamp = lock.readLock();
    try {
      Set<Long> workers = new HashSet<>();
      long memberships = 0;
      long bytes = tree.bytes();
      for (RadixRank rank : ranks.values()) {
        workers.add(rank.id.workerId());
        memberships += rank.places.size();
        bytes += rank.bytes();
      }
      return new IndexStats(workers.size(), ranks.size(), memberships, tree.heldBlocks(), bytes, 0);
    } finally {
      lock.unlockRead(stamp);
    }
  }

  @Override
  public void close() {}
}
