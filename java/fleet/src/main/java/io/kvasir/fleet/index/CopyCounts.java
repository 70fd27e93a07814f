package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.BlockEvent.Repeats;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An index behind the events of engines that may hold several copies of a block, each of which is
 * stored and removed on its own, as vLLM's block pool does. A removal reaches the index with the
 * last copy.
 *
 * <p>Copies are counted by handle, so apart for each tier and group. Only blocks with more than one
 * are kept, 16 to 32 bytes each, at most {@value #MAX_BLOCKS_OF_RANK} of a rank and {@value
 * #MAX_BLOCKS} of all. Copies beyond that are not counted: their blocks leave the index with the
 * first removal.
 *
 * <p>Some engines announce the blocks that a request found in the cache again, in the form of a
 * store. A store that begins a prompt looks like an announcement if a request could have reused its
 * blocks even without the last one, which is computed where a prompt ends with it. That has other
 * reasons too, such as speculation, but only announcements are often followed by what the request
 * computed ({@link Repeats#UNCLEAR}). A rank whose stores do so announces its hits; then its stores
 * that begin a prompt with blocks that could be reused are no copies.
 *
 * <p>Thread-safe if changes of one rank come from one thread at a time.
 */
public final class CopyCounts extends ForwardingIndex {

  static final int MAX_BLOCKS = 1 << 20;
  static final int MAX_BLOCKS_OF_RANK = 1 << 17;

  private static final int LEAST_ANNOUNCEMENTS = 4;

  /** Of engines that do not announce hits, 1 in 40 is followed by chance; of others, 1 in 3. */
  private static final int MOST_SINGLE = 8;

  /** Stores that count for the verdict; then each counts half. */
  private static final int VOTES = 1 << 16;

  private static final long[] NONE = {};

  private final Map<RankId, Copies> ranks = new ConcurrentHashMap<>();
  private final AtomicLong blocks = new AtomicLong();
  private final ThreadLocal<long[]> scratch = ThreadLocal.withInitial(() -> NONE);

  /** Of one rank. */
  private static final class Copies {
    /** Copies beyond the first, by handle. */
    final Long2IntOpenHashMap further = new Long2IntOpenHashMap();

    volatile long total;

    /** Stores that look like announcements, with what a request computed behind them. */
    int followed;

    /** Those without. */
    int single;

    boolean announcesHits;

    /** The beginning that was judged last; null for none. */
    @Nullable Verdict verdict;

    /** Returns whether the rank announces hits by this store, and did not by the last one. */
    boolean vote(boolean isFollowed) {
      followed += isFollowed ? 1 : 0;
      single += isFollowed ? 0 : 1;
      if (followed + single > VOTES) {
        followed /= 2;
        single /= 2;
      }
      boolean before = announcesHits;
      announcesHits = followed >= LEAST_ANNOUNCEMENTS && followed >= single / MOST_SINGLE;
      return announcesHits && !before;
    }

    /** Returns how many blocks had copies. */
    int clear() {
      int blocks = further.size();
      further.clear();
      further.trim();
      total = 0;
      verdict = null;
      return blocks;
    }
  }

  /** Whether the blocks that a group named, up to one, were an announcement. */
  private record Verdict(int group, long last, boolean announced) {}

  /** Blocks that begin a prompt in a group, by the engine's hash of the last and local hashes. */
  @SuppressWarnings("ArrayRecordComponent") // read once, not compared
  private record Beginning(int group, long last, long rootHash, long[] localHashes) {

    static @Nullable Beginning of(BlockEvent.Stored stored) {
      return of(
          stored.root(), MAIN_GROUP, stored.handles(), stored.rootHash(), stored.localHashes());
    }

    static @Nullable Beginning of(BlockEvent.GroupStored stored) {
      int group = stored.group().index();
      return of(stored.root(), group, stored.hashes(), stored.rootHash(), stored.localHashes());
    }

    private static @Nullable Beginning of(
        boolean root, int group, long[] hashes, long rootHash, long @Nullable [] localHashes) {
      return root && localHashes != null && hashes.length > 0
          ? new Beginning(group, hashes[hashes.length - 1], rootHash, localHashes)
          : null;
    }

    /** Whether another group has named the same blocks just before. */
    boolean isOfRequest(Verdict before) {
      return before.last == last && before.group != group;
    }
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
      int known = known(rank, MAIN_GROUP, stored.handles());
      return store(rank, stored, known, stored.repeats(), Beginning.of(stored));
    }
    if (event instanceof BlockEvent.Aliased aliased && aliased.repeats() != Repeats.SAME) {
      int known = known(rank, MAIN_GROUP, aliased.handles());
      ChangeStatus status = super.apply(rank, event);
      count(rank, known);
      return status;
    }
    if (event instanceof BlockEvent.GroupStored stored && stored.repeats() != Repeats.SAME) {
      int known = known(rank, stored.group().index(), stored.handles());
      return store(rank, stored, known, stored.repeats(), Beginning.of(stored));
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
    if (event instanceof BlockEvent.Cleared && copies != null) {
      blocks.addAndGet(-copies.clear());
    }
    return super.apply(rank, event);
  }

  /**
   * Applies a store.
   *
   * @param known how many of the blocks are known; their handles are in the thread's scratch
   * @param beginning null unless the blocks begin a prompt
   */
  private ChangeStatus store(
      RankId rank, BlockEvent event, int known, Repeats repeats, @Nullable Beginning beginning) {
    if (known > 0) {
      ranks.computeIfAbsent(rank, id -> new Copies());
    }
    boolean announced = beginning != null && isAnnouncement(rank, beginning, known, repeats);
    if (announced && known > 0 && event instanceof BlockEvent.GroupStored) {
      return ChangeStatus.UNCHANGED; // it may name blocks that only other groups hold
    }
    ChangeStatus status = super.apply(rank, event);
    if (!announced && (status == ChangeStatus.APPLIED || status == ChangeStatus.UNCHANGED)) {
      count(rank, known);
    }
    return status;
  }

  /**
   * Whether blocks that begin a prompt are named since a request hit them. The first group that
   * names them decides for the others of the same request, because by then the blocks of the first
   * are held, whether it had them before or not.
   */
  private boolean isAnnouncement(RankId rank, Beginning beginning, int known, Repeats repeats) {
    Copies copies = ranks.get(rank);
    if (copies == null) {
      return false; // none of the blocks is known
    }
    Verdict before = copies.verdict;
    if (before != null && beginning.isOfRequest(before)) {
      return before.announced();
    }
    if (known == beginning.localHashes().length
        && isUsable(rank, beginning, known)
        && isUsable(rank, beginning, known - 1)
        && copies.vote(repeats == Repeats.UNCLEAR)) {
      blocks.addAndGet(-copies.clear());
    }
    boolean announced = copies.announcesHits && isUsable(rank, beginning, 1);
    copies.verdict = new Verdict(beginning.group(), beginning.last(), announced);
    return announced;
  }

  /** Whether a request could reuse the first blocks, at least one. */
  private boolean isUsable(RankId rank, Beginning beginning, int blocks) {
    long[] names = new long[blocks];
    long name =
        beginning.rootHash() == 0 ? NativeBlockHasher.root(CacheScope.NONE) : beginning.rootHash();
    for (int i = 0; i < names.length; i++) {
      name = NativeBlockHasher.chain(name, beginning.localHashes()[i]);
      names[i] = name;
    }
    RankMatches matches = new RankMatches();
    matchAll(names, names.length, matches);
    return blocks > 0 && matches.blocks(rank) == blocks;
  }

  /** Collects in the thread's scratch which handles the rank has. */
  private int known(RankId rank, int group, long[] handles) {
    long[] found = scratch.get();
    if (found.length < handles.length) {
      found = new long[Math.max(handles.length, 2 * found.length)];
      scratch.set(found);
    }
    return known(rank, group, handles, found);
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
      boolean room = copies.further.size() < MAX_BLOCKS_OF_RANK && blocks.get() < MAX_BLOCKS;
      if (!first || room) {
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
