package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheGroup;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
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

  private static final int NONE = RankBlocks.NONE;
  private static final int MAIN = 0;

  private final RankBlocks blocks = new RankBlocks();

  /** The main group, then the others in the order of their first event. */
  private final List<HeldGroup> groups = new ArrayList<>(List.of(new HeldGroup(null, blocks)));

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
    HeldGroup main = groups.get(MAIN);
    for (int i = 0; i < aliased.handles().length; i++) {
      int block = main.blockOf(aliased.of()[i]);
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
    HeldGroup held = held(stored.group());
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
      if (groups.get(at).hasHandle(handles[i])) {
        found[known++] = handles[i];
      }
    }
    return known;
  }

  /** {@return handles in all groups} */
  synchronized long handles() {
    return groups.stream().mapToLong(HeldGroup::handleCount).sum();
  }

  /** Forgets all blocks; the engine still has its groups. */
  synchronized void clear() {
    kept.addAndGet(-handles());
    groups.replaceAll(held -> new HeldGroup(held.group(), blocks));
    blocks.clear();
  }

  /** Where a further group is among the groups. */
  private int position(int index) {
    for (int i = 1; i < groups.size(); i++) {
      CacheGroup known = groups.get(i).group();
      if (known != null && known.index() == index) {
        return i;
      }
    }
    return NONE;
  }

  /** What a group holds: nothing, if it was another one before. Null if there are too many. */
  private @Nullable HeldGroup held(CacheGroup group) {
    int at = position(group.index());
    if (at == NONE) {
      tooManyGroups |= groups.size() > MAX_GROUPS;
      if (tooManyGroups) {
        return null;
      }
      at = groups.size();
      groups.add(new HeldGroup(group, blocks));
    } else if (!group.equals(groups.get(at).group())) {
      HeldGroup other = groups.get(at);
      drop(other, other.handles());
      groups.set(at, new HeldGroup(group, blocks));
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
      int parent = blocks.ofHash(parentHash);
      parent = parent == NONE ? groups.get(MAIN).blockOf(parentHash) : parent;
      if (parent == NONE || !blocks.isNamed(parent)) {
        return null;
      }
      name = blocks.name(parent);
    }
    long[] chained = new long[localHashes.length];
    for (int i = 0; i < chained.length; i++) {
      name = NativeBlockHasher.chain(name, localHashes[i]);
      chained[i] = name;
    }
    return chained;
  }

  /** Holds the block of a hash and, if it has one, a name. True if the handle is new. */
  private boolean hold(HeldGroup held, long handle, long hash, long name, boolean hasName) {
    if (kept.get() >= MAX_HANDLES) {
      return false;
    }
    int block = hasName ? blocks.ofName(name) : NONE;
    block = block == NONE ? blocks.ofHash(hash) : block;
    block = block == NONE ? blocks.add(hash) : block;
    if (hasName) {
      blocks.name(block, name);
    }
    return hold(held, handle, block);
  }

  private boolean hold(HeldGroup held, long handle, int block) {
    int before = held.bind(handle, block);
    if (before == NONE) {
      kept.incrementAndGet();
    }
    return before != block;
  }

  private int drop(HeldGroup held, long[] handles) {
    int dropped = 0;
    for (long handle : handles) {
      if (held.remove(handle)) {
        dropped++;
      }
    }
    kept.addAndGet(-dropped);
    return dropped;
  }

  /** Whether the rank has blocks, and no group with full attention. */
  boolean hasNoMain() {
    return !hasMain && hasBlocks();
  }

  private synchronized boolean hasBlocks() {
    return !blocks.isEmpty();
  }

  /**
   * The longest prefix of a prompt that all groups allow, at most {@code most}, up to which the
   * main group has all.
   */
  synchronized int limit(long[] sequenceHashes, int most) {
    int limit = tooManyGroups ? 0 : most;
    for (int i = 1; i < groups.size(); i++) {
      if (groups.get(i).isFull()) {
        limit = groups.get(i).longest(sequenceHashes, limit);
      }
    }
    int before = limit + 1;
    for (int pass = 0; limit > 0 && limit < before; pass++) {
      if (pass == MOST_PASSES) {
        return inOnePass(sequenceHashes, limit);
      }
      before = limit;
      for (int i = 1; i < groups.size(); i++) {
        if (!groups.get(i).isFull()) {
          limit = groups.get(i).longest(sequenceHashes, limit);
        }
      }
    }
    return limit;
  }

  /** The longest prefix that windows and states allow, block by block from its beginning. */
  private int inOnePass(long[] sequenceHashes, int most) {
    int[] run = new int[groups.size()];
    int longest = 0;
    for (int at = 0; at < most; at++) {
      int block = blocks.ofName(sequenceHashes[at]);
      boolean usable = true;
      for (int i = 1; i < run.length; i++) {
        HeldGroup group = groups.get(i);
        run[i] = group.holds(block) ? run[i] + 1 : 0;
        usable &= group.isFull() || run[i] >= Math.min(group.needed(), at + 1);
      }
      longest = usable ? at + 1 : longest;
    }
    return longest;
  }
}
