package io.kvasir.fleet.wire;

import io.kvasir.event.CacheGroup;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The cache groups of one engine, as far as its events have shown them. The first group with full
 * attention is the main one. Not thread-safe.
 */
final class EngineGroups {

  private static final int NONE = -1;

  private final int tokensPerBlock;
  private final Int2ObjectOpenHashMap<CacheGroup> known = new Int2ObjectOpenHashMap<>();

  /** Groups whose rule for prefixes is not known. */
  private final BitSet others = new BitSet();

  /** Groups that have stored blocks of the rank's size. */
  private final BitSet whole = new BitSet();

  private int main = NONE;

  EngineGroups(int tokensPerBlock) {
    this.tokensPerBlock = tokensPerBlock;
  }

  /** Forgets all groups. */
  void reset() {
    known.clear();
    others.clear();
    whole.clear();
    main = NONE;
  }

  /** The group of stored blocks; null if it is not known which prefixes it allows. */
  @Nullable CacheGroup of(WireBlocks blocks) {
    int index = Math.max(0, blocks.group());
    CacheGroup before = known.get(index);
    if (blocks.tokenCount() == 0 && (before != null || blocks.group() >= 0)) {
      return before; // only events with tokens say what kind of group it is
    }
    CacheGroup.Kind kind = blocks.groupKind();
    if (kind == null) {
      others.set(index, before == null);
      return null;
    }
    others.clear(index);
    if (before != null && before.kind() == kind && kind != CacheGroup.Kind.WINDOW) {
      return before;
    }
    CacheGroup group =
        kind == CacheGroup.Kind.WINDOW
            ? CacheGroup.window(index, blocks.window(), tokensPerBlock)
            : new CacheGroup(index, kind, 1);
    if (group.equals(before)) {
      return before;
    }
    known.put(index, group);
    return group;
  }

  /** Whether stored blocks are of the main group, which the first full one with tokens becomes. */
  boolean isMain(CacheGroup group, WireBlocks blocks) {
    if (group.kind() != CacheGroup.Kind.FULL) {
      return false;
    }
    if (main == NONE && blocks.tokenCount() > 0) {
      main = group.index();
    }
    return canBeMain(group.index());
  }

  /** Whether a group is the main one, or there is none yet. */
  boolean canBeMain(int index) {
    return main == NONE || index == main;
  }

  /** Whether blocks that a group removes are the main group's. */
  boolean removesFromMain(int index) {
    return main == NONE ? !known.containsKey(index) : index == main;
  }

  /** Whether a group is not followed, because its rule for prefixes is not known. */
  boolean isOther(int index) {
    return others.get(index);
  }

  /** A group has stored blocks of the rank's size. True if it had none before. */
  boolean onWhole(int index) {
    boolean first = !whole.get(index);
    whole.set(index);
    return first;
  }

  /** Whether a group has stored blocks of the rank's size. */
  boolean hasWhole(int index) {
    return whole.get(index);
  }
}
