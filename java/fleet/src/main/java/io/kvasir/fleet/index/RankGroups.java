package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheGroup;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one rank whose model has several cache groups, and which groups hold each of them.
 *
 * <p>The blocks of the main group, which has full attention, are known to the index; they are kept
 * here too, because other groups name blocks by the engine's hash alone where they leave some out.
 * A model without full attention has no main group.
 *
 * <p>A block takes about 80 bytes, and 20 for each further group that holds it. Blocks beyond
 * {@value #MAX_BLOCKS} are not kept: prefixes are not matched past them. Thread-safe.
 */
final class RankGroups {

  static final int MAX_BLOCKS = 1 << 20;

  private static final int NONE = -1;
  private static final int MAIN = 0;

  /** By the engine's hash, and by sequence hash where that is known. */
  private final Long2IntOpenHashMap blockOfHash = map();

  private final Long2IntOpenHashMap blockOfName = map();

  /** The main group, then the others in the order of their first event. */
  private final List<Held> groups = new ArrayList<>(List.of(new Held(null)));

  private long[] hashes = new long[16];
  private long[] names = new long[16];
  private boolean[] named = new boolean[16];

  /** Handles of each block, in all groups. */
  private int[] uses = new int[16];

  private final IntArrayList free = new IntArrayList();
  private int used;
  private boolean hasMain;

  /** What a group holds; {@code group} is null for the main one. */
  private static final class Held {
    final @Nullable CacheGroup group;
    final Long2IntOpenHashMap blockOfHandle = map();

    /** Handles in this group, by block. */
    int[] handles = new int[16];

    Held(@Nullable CacheGroup group) {
      this.group = group;
    }

    boolean holds(int block) {
      return block != NONE && block < handles.length && handles[block] > 0;
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
    hasMain |= count > 0;
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
    for (Held held : groups) {
      if (held.group != null && held.group.index() == removed.group()) {
        return drop(held, removed.handles());
      }
    }
    return 0;
  }

  /** Which of some handles of further groups are known. */
  synchronized int known(long[] handles, long[] found) {
    int known = 0;
    for (long handle : handles) {
      for (int i = 1; i < groups.size(); i++) {
        if (groups.get(i).blockOfHandle.containsKey(handle)) {
          found[known++] = handle;
          break;
        }
      }
    }
    return known;
  }

  /** Forgets all blocks; the engine still has its groups. */
  synchronized void clear() {
    blockOfHash.clear();
    blockOfName.clear();
    for (Held held : groups) {
      held.blockOfHandle.clear();
      Arrays.fill(held.handles, 0);
    }
    free.clear();
    used = 0;
  }

  private Held held(CacheGroup group) {
    for (int i = 1; i < groups.size(); i++) {
      CacheGroup known = groups.get(i).group;
      if (known != null && known.index() == group.index()) {
        return groups.get(i);
      }
    }
    Held held = new Held(group);
    groups.add(held);
    return held;
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
    int block = hasName ? blockOfName.get(name) : NONE;
    block = block == NONE ? blockOfHash.get(hash) : block;
    if (block == NONE) {
      block = create();
      if (block == NONE) {
        return false;
      }
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
    if (block >= held.handles.length) {
      held.handles = Arrays.copyOf(held.handles, names.length);
    }
    held.handles[block]++;
    uses[block]++;
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
    held.handles[block]--;
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
    } else if (used == MAX_BLOCKS) {
      return NONE;
    } else {
      block = used++;
      if (block == names.length) {
        hashes = Arrays.copyOf(hashes, 2 * block);
        names = Arrays.copyOf(names, 2 * block);
        named = Arrays.copyOf(named, 2 * block);
        uses = Arrays.copyOf(uses, 2 * block);
      }
    }
    named[block] = false;
    uses[block] = 0;
    return block;
  }

  /** Whether the rank has blocks, and no group with full attention. */
  synchronized boolean hasNoMain() {
    return !hasMain && used > free.size();
  }

  /**
   * The longest prefix of a prompt that all groups allow, at most {@code blocks}, up to which the
   * main group has all.
   */
  synchronized int limit(long[] sequenceHashes, int blocks) {
    int limit = blocks;
    int before;
    do {
      before = limit;
      for (int i = 1; i < groups.size() && limit > 0; i++) {
        limit = limit(groups.get(i), sequenceHashes, limit);
      }
    } while (limit < before && groups.size() > 2);
    return limit;
  }

  private int limit(Held held, long[] sequenceHashes, int blocks) {
    CacheGroup group = held.group;
    if (group == null) {
      return blocks;
    }
    return switch (group.kind()) {
      case FULL -> leading(held, sequenceHashes, blocks);
      case WINDOW -> windowed(held, sequenceHashes, blocks, group.blocks());
      case STATE -> windowed(held, sequenceHashes, blocks, 1);
    };
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
