package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.BlockEvent.Repeats;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An index behind the events of engines that may hold several copies of a block, each of which is
 * stored and removed on its own, as vLLM's block pool does. A removal reaches the index with the
 * last copy.
 *
 * <p>Copies are counted by handle, so apart for each tier and group. Only blocks with more than one
 * are kept, about 16 bytes each, at most {@value #MAX_BLOCKS} of all ranks together. Copies beyond
 * that are not counted: their blocks leave the index with the first removal.
 *
 * <p>Some engines announce the blocks that a request found in the cache again, in the form of a
 * store ({@link Repeats#UNCLEAR}). Once a rank has done so with at least two blocks, stores that
 * begin a prompt with known blocks only are no copies.
 *
 * <p>Thread-safe if changes of one rank come from one thread at a time.
 */
public final class CopyCounts extends ForwardingIndex {

  static final int MAX_BLOCKS = 1 << 20;

  private static final long[] NONE = {};

  private final Map<RankId, Copies> ranks = new ConcurrentHashMap<>();
  private final AtomicLong blocks = new AtomicLong();
  private final ThreadLocal<long[]> scratch = ThreadLocal.withInitial(() -> NONE);

  /** Of one rank. */
  private static final class Copies {
    /** Copies beyond the first, by handle. */
    final Long2IntOpenHashMap further = new Long2IntOpenHashMap();

    volatile long total;
    boolean announcesHits;
  }

  /**
   * Begins without copies.
   *
   * @param index receives the changes; closed with this one
   */
  public CopyCounts(PrefixIndex index) {
    super(index);
  }

  /**
   * {@return how many copies of blocks a rank has beyond the first of each}
   *
   * @param rank the rank
   */
  public long copies(RankId rank) {
    Copies copies = ranks.get(rank);
    return copies == null ? 0 : copies.total;
  }

  @Override
  public ChangeStatus apply(RankId rank, BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored && stored.repeats() != Repeats.SAME) {
      return store(rank, event, stored.handles(), stored.root(), stored.repeats());
    }
    if (event instanceof BlockEvent.Aliased aliased && aliased.repeats() != Repeats.SAME) {
      int known = known(rank, aliased.handles());
      ChangeStatus status = super.apply(rank, event);
      count(rank, known);
      return status;
    }
    if (event instanceof BlockEvent.GroupStored stored && stored.repeats() != Repeats.SAME) {
      return store(rank, event, stored.handles(), stored.root(), stored.repeats());
    }
    Copies copies = ranks.get(rank);
    if (copies != null && event instanceof BlockEvent.Removed removed) {
      long[] last = lastOf(copies, removed.handles());
      return last.length == 0
          ? ChangeStatus.UNCHANGED
          : super.apply(rank, new BlockEvent.Removed(removed.naming(), last));
    }
    if (copies != null && event instanceof BlockEvent.GroupRemoved removed) {
      long[] last = lastOf(copies, removed.handles());
      return last.length == 0
          ? ChangeStatus.UNCHANGED
          : super.apply(rank, new BlockEvent.GroupRemoved(removed.group(), last));
    }
    if (event instanceof BlockEvent.Cleared) {
      forget(rank);
    }
    return super.apply(rank, event);
  }

  private ChangeStatus store(
      RankId rank, BlockEvent event, long[] handles, boolean root, Repeats repeats) {
    int known = known(rank, handles);
    ChangeStatus status = super.apply(rank, event);
    if (known > 0 && (status == ChangeStatus.APPLIED || status == ChangeStatus.UNCHANGED)) {
      boolean allKnown = root && known == handles.length;
      if (allKnown && known > 1 && repeats == Repeats.UNCLEAR) {
        forget(rank);
        ranks.computeIfAbsent(rank, id -> new Copies()).announcesHits = true;
      }
      Copies copies = ranks.get(rank);
      if (!allKnown || copies == null || !copies.announcesHits) {
        count(rank, known);
      }
    }
    return status;
  }

  /** Collects in the thread's scratch which handles the rank has. */
  private int known(RankId rank, long[] handles) {
    long[] found = scratch.get();
    if (found.length < handles.length) {
      found = new long[Math.max(handles.length, 2 * found.length)];
      scratch.set(found);
    }
    return known(rank, handles, found);
  }

  /** Counts another copy of the first handles in the thread's scratch. */
  private void count(RankId rank, int known) {
    if (known == 0) {
      return;
    }
    Copies copies = ranks.computeIfAbsent(rank, id -> new Copies());
    long[] handles = scratch.get();
    long total = copies.total;
    for (int i = 0; i < known; i++) {
      boolean first = !copies.further.containsKey(handles[i]);
      if (!first || blocks.get() < MAX_BLOCKS) {
        copies.further.addTo(handles[i], 1);
        blocks.addAndGet(first ? 1 : 0);
        total++;
      }
    }
    copies.total = total;
  }

  /** The handles of a removal that are of last copies; the others have one copy less. */
  private long[] lastOf(Copies copies, long[] handles) {
    if (copies.further.isEmpty()) {
      return handles;
    }
    long[] last = new long[handles.length];
    int count = 0;
    for (long handle : handles) {
      int further = copies.further.get(handle);
      if (further == 0) {
        last[count++] = handle;
      } else if (further == 1) {
        copies.further.remove(handle);
        blocks.decrementAndGet();
      } else {
        copies.further.put(handle, further - 1);
      }
    }
    long total = copies.total;
    copies.total = total - (handles.length - count);
    return count == handles.length ? handles : Arrays.copyOf(last, count);
  }

  private void forget(RankId rank) {
    Copies copies = ranks.remove(rank);
    if (copies != null) {
      blocks.addAndGet(-copies.further.size());
    }
  }

  @Override
  public void removeRank(RankId rank) {
    forget(rank);
    super.removeRank(rank);
  }
}
