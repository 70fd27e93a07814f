package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheGroup;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one rank whose model has several cache groups, and which groups hold each of them.
 *
 * <p>The blocks of the main group, which has full attention, are known to the index; they are kept
 * here too, because other groups name blocks by the engine's hash alone where they leave some out.
 * A model without full attention has no main group.
 *
 * <p>A block takes about 100 bytes, and 40 for each further group that holds it. At most {@value
 * #MAX_HANDLES} handles are kept of all ranks of an index, and {@value #MAX_GROUPS} groups of a
 * rank: prefixes are not matched past blocks that are not kept. Thread-safe.
 */
final class RankGroups {

  static final int MAX_HANDLES = 1 << 23;
  static final int MAX_GROUPS = 32;

  /** Passes over the groups before a prompt is looked at block by block. */
  private static final int MOST_PASSES = 4;

  private static final int NONE = -1;
  private static final int FEWEST = 16;
  private static final int MAIN = 0;

  /** By the engine's hash, and by sequence hash where that is known. */
  private final Long2IntOpenHashMap blockOfHash = map();

  private final Long2IntOpenHashMap blockOfName = map();

  /** The main group, then the others in the order of their first event. */
  private final List<Held> groups = new ArrayList<>(List.of(new Held(null)));

  private long[] hashes = new long[FEWEST];
  private long[] names = new long[FEWEST];
  private boolean[] named = new boolean[FEWEST];

  /** Handles of each block, in all groups. */
  private int[] uses = new int[FEWEST];

  private final IntArrayList free = new IntArrayList();
  private int used;
  private volatile boolean hasMain;
  private boolean tooManyGroups;

  /** Handles of all ranks. */
  private final AtomicLong kept;

  RankGroups(AtomicLong kept) {
    this.kept = kept;
  }

  /** The rank has a main group. */
  void hasMain() {
    hasMain = true;
  }

  /** What a group holds; {@code group} is null for the main one. */
  private static final class Held {
    final @Nullable CacheGroup group;
    final Long2IntOpenHashMap blockOfHandle = map();

    /** Handles in this group, by block. */
    final Int2IntOpenHashMap handles = new Int2IntOpenHashMap();

    Held(@Nullable CacheGroup group) {
      this.group = group;
    }

    boolean holds(int block) {
      return block != NONE && handles.containsKey(block);
    }
  }

  private static Long2IntOpenHashMap map() {
    Long2IntOpenHashMap map = new Long2IntOpenHashMap();
    map.defaultReturnValue(NONE);
    return map;
  }

  /** Takes blocks that the main group holds, from before the rank was known to have groups. */
  synchronized void load(long[] handles, long[] sequenceHashes, int count) {
    for (int i = 0; i < count; i++) {
      hold(groups.get(MAIN), handles[i], handles[i], sequenceHashes[i], true);
    }
    if (count > 0) {
      hasMain = true;
    }
  }

  /** The main group has stored blocks. */
  synchronized void onStored(BlockEvent.Stored stored) {
    hasMain = true;
    long[] given = stored.sequenceHashes();
    long[] names =
        given != null
            ? given
            : names(stored.root(), stored.parentHandle(), stored.rootHash(), stored.localHashes());
    for (int i = 0; names != null && i < names.length; i++) {
      hold(groups.get(MAIN), stored.handles()[i], stored.handles()[i], names[i], true);
    }
  }

  /** Blocks of the main group have further handles. */
  synchronized void onAliased(BlockEvent.Aliased aliased) {
    Held main = groups.get(MAIN);
    for (int i = 0; i < aliased.handles().length; i++) {
      int block = main.blockOfHandle.get(aliased.of()[i]);
      if (block != NONE) {
        hold(main, aliased.handles()[i], block);
      }
    }
  }

  /** The main group has removed blocks. */
  synchronized void onRemoved(long[] handles) {
    drop(groups.get(MAIN), handles);
  }

  /** Another group has stored blocks. True if something changes. */
  synchronized boolean onStored(BlockEvent.GroupStored stored) {
    Held held = held(stored.group());
    if (held == null) {
      return false;
    }
    long[] names =
        stored.localHashes() == null
            ? null
            : names(stored.root(), stored.parentHash(), stored.rootHash(), stored.localHashes());
    boolean changed = false;
    for (int i = 0; i < stored.handles().length; i++) {
      long name = names == null ? 0 : names[i];
      changed |= hold(held, stored.handles()[i], stored.hashes()[i], name, names != null);
    }
    return changed;
  }

  /** Another group has removed blocks. Returns how many of them it held. */
  synchronized int onRemoved(BlockEvent.GroupRemoved removed) {
    int at = position(removed.group());
    return at == NONE ? 0 : drop(groups.get(at), removed.handles());
  }

  /** Which of some handles of a further group are known. */
  synchronized int known(int group, long[] handles, long[] found) {
    int at = position(group);
    int known = 0;
    for (int i = 0; at != NONE && i < handles.length; i++) {
      if (groups.get(at).blockOfHandle.containsKey(handles[i])) {
        found[known++] = handles[i];
      }
    }
    return known;
  }

  /** {@return handles in all groups} */
  synchronized long handles() {
    return groups.stream().mapToLong(held -> held.blockOfHandle.size()).sum();
  }

  /** Forgets all blocks; the engine still has its groups. */
  synchronized void clear() {
    kept.addAndGet(-handles());
    groups.replaceAll(held -> new Held(held.group));
    blockOfHash.clear();
    blockOfHash.trim();
    blockOfName.clear();
    blockOfName.trim();
    free.clear();
    free.trim();
    used = 0;
    makeRoom(FEWEST);
  }

  /** Where a further group is among the groups. */
  private int position(int index) {
    for (int i = 1; i < groups.size(); i++) {
      CacheGroup known = groups.get(i).group;
      if (known != null && known.index() == index) {
        return i;
      }
    }
    return NONE;
  }

  /** What a group holds: nothing, if it was another one before. Null if there are too many. */
  private @Nullable Held held(CacheGroup group) {
    int at = position(group.index());
    if (at == NONE) {
      tooManyGroups |= groups.size() > MAX_GROUPS;
      if (tooManyGroups) {
        return null;
      }
      at = groups.size();
      groups.add(new Held(group));
    } else if (!group.equals(groups.get(at).group)) {
      Held other = groups.get(at);
      drop(other, other.blockOfHandle.keySet().toLongArray());
      groups.set(at, new Held(group));
    }
    return groups.get(at);
  }

  /** The sequence hashes of blocks; null if that of the block before them is not known. */
  private long @Nullable [] names(
      boolean root, long parentHash, long rootHash, long @Nullable [] localHashes) {
    if (localHashes == null) {
      return null;
    }
    long name = rootHash == 0 ? NativeBlockHasher.root(CacheScope.NONE) : rootHash;
    if (!root) {
      int parent = blockOfHash.get(parentHash);
      parent = parent == NONE ? groups.get(MAIN).blockOfHandle.get(parentHash) : parent;
      if (parent == NONE || !named[parent]) {
        return null;
      }
      name = names[parent];
    }
    long[] chained = new long[localHashes.length];
    for (int i = 0; i < chained.length; i++) {
      name = NativeBlockHasher.chain(name, localHashes[i]);
      chained[i] = name;
    }
    return chained;
  }

  /** Holds the block of a hash and, if it has one, a name. True if the handle is new. */
  private boolean hold(Held held, long handle, long hash, long name, boolean hasName) {
    if (kept.get() >= MAX_HANDLES) {
      return false;
    }
    int block = hasName ? blockOfName.get(name) : NONE;
    block = block == NONE ? blockOfHash.get(hash) : block;
    if (block == NONE) {
      block = create();
      hashes[block] = hash;
      blockOfHash.put(hash, block);
    }
    if (hasName && !named[block]) {
      named[block] = true;
      names[block] = name;
      blockOfName.put(name, block);
    }
    return hold(held, handle, block);
  }

  private boolean hold(Held held, long handle, int block) {
    int before = held.blockOfHandle.put(handle, block);
    if (before == block) {
      return false;
    }
    held.handles.addTo(block, 1);
    uses[block]++;
    kept.incrementAndGet();
    if (before != NONE) {
      release(held, before);
    }
    return true;
  }

  private int drop(Held held, long[] handles) {
    int dropped = 0;
    for (long handle : handles) {
      int block = held.blockOfHandle.remove(handle);
      if (block != NONE) {
        release(held, block);
        dropped++;
      }
    }
    return dropped;
  }

  private void release(Held held, int block) {
    kept.decrementAndGet();
    if (held.handles.addTo(block, -1) == 1) {
      held.handles.remove(block);
    }
    if (--uses[block] == 0) {
      blockOfHash.remove(hashes[block]);
      if (named[block]) {
        blockOfName.remove(names[block]);
      }
      free.add(block);
    }
  }

  private int create() {
    int block;
    if (!free.isEmpty()) {
      block = free.popInt();
    } else {
      block = used++;
      if (block == names.length) {
        makeRoom(2 * block);
      }
    }
    named[block] = false;
    uses[block] = 0;
    return block;
  }

  private void makeRoom(int blocks) {
    hashes = Arrays.copyOf(hashes, blocks);
    names = Arrays.copyOf(names, blocks);
    named = Arrays.copyOf(named, blocks);
    uses = Arrays.copyOf(uses, blocks);
  }

  /** Whether the rank has blocks, and no group with full attention. */
  boolean hasNoMain() {
    return !hasMain && hasBlocks();
  }

  private synchronized boolean hasBlocks() {
    return used > free.size();
  }

  /**
   * The longest prefix of a prompt that all groups allow, at most {@code blocks}, up to which the
   * main group has all.
   */
  synchronized int limit(long[] sequenceHashes, int blocks) {
    int limit = tooManyGroups ? 0 : blocks;
    for (int i = 1; i < groups.size(); i++) {
      if (kind(i) == CacheGroup.Kind.FULL) {
        limit = leading(groups.get(i), sequenceHashes, limit);
      }
    }
    int before = limit + 1;
    for (int pass = 0; limit > 0 && limit < before; pass++) {
      if (pass == MOST_PASSES) {
        return longest(sequenceHashes, limit);
      }
      before = limit;
      for (int i = 1; i < groups.size(); i++) {
        if (kind(i) != CacheGroup.Kind.FULL) {
          limit = windowed(groups.get(i), sequenceHashes, limit, needed(i));
        }
      }
    }
    return limit;
  }

  private CacheGroup.Kind kind(int i) {
    CacheGroup group = groups.get(i).group;
    return group == null ? CacheGroup.Kind.FULL : group.kind();
  }

  /** How many blocks at its end a group needs of a prefix. */
  private int needed(int i) {
    CacheGroup group = groups.get(i).group;
    return group == null || group.kind() == CacheGroup.Kind.STATE ? 1 : group.blocks();
  }

  /** The longest prefix that windows and states allow, in one pass from its beginning. */
  private int longest(long[] sequenceHashes, int blocks) {
    int[] run = new int[groups.size()];
    int longest = 0;
    for (int at = 0; at < blocks; at++) {
      int block = blockOfName.get(sequenceHashes[at]);
      boolean usable = true;
      for (int i = 1; i < run.length; i++) {
        run[i] = groups.get(i).holds(block) ? run[i] + 1 : 0;
        usable &= kind(i) == CacheGroup.Kind.FULL || run[i] >= Math.min(needed(i), at + 1);
      }
      longest = usable ? at + 1 : longest;
    }
    return longest;
  }

  private int leading(Held held, long[] sequenceHashes, int blocks) {
    int limit = 0;
    while (limit < blocks && held.holds(blockOfName.get(sequenceHashes[limit]))) {
      limit++;
    }
    return limit;
  }

  /** The longest prefix whose last blocks are held, that many or all. */
  private int windowed(Held held, long[] sequenceHashes, int blocks, int window) {
    int end = blocks;
    for (int at = blocks - 1; at >= 0 && end - at <= window; at--) {
      if (!held.holds(blockOfName.get(sequenceHashes[at]))) {
        end = at;
      }
    }
    return end;
  }
}
