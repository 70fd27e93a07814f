package io.kvasir.fleet.load;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A run of blocks in {@link SequenceTree}, where no request ends and no two part ways. Not
 * thread-safe. Every operation is O(1).
 */
final class SequenceRun {

  /**
   * The sequence from its very first block, at least as far as {@link #to}. Never written before
   * it.
   */
  long[] hashes;

  /** The run's first block. */
  int from;

  /** Behind its last block. */
  int to;

  /** The run before it; of the root itself. */
  SequenceRun parent;

  /** Requests that go through the run or end there. */
  final RankUsers users;

  /** Requests that end with the run's last block. */
  int ends;

  /** One child stands alone; several are in a map, by their first blocks. */
  private @Nullable SequenceRun onlyChild;

  private @Nullable Long2ObjectOpenHashMap<SequenceRun> children;

  SequenceRun(SequenceRun parent, long[] hashes, int from, int to, RankUsers users) {
    this.parent = parent;
    this.hashes = hashes;
    this.from = from;
    this.to = to;
    this.users = users;
  }

  private SequenceRun() {
    this.parent = this;
    this.hashes = new long[0];
    this.users = new RankUsers();
  }

  /** A run without blocks, before all others. */
  static SequenceRun root() {
    return new SequenceRun();
  }

  int blocks() {
    return to - from;
  }

  boolean hasChildren() {
    return onlyChild != null || children != null;
  }

  /** The child, if it is the only one; else null. */
  @Nullable SequenceRun onlyChild() {
    return onlyChild;
  }

  /** The child that begins with a block, or null. */
  @Nullable SequenceRun child(long hash) {
    if (children != null) {
      return children.get(hash);
    }
    return onlyChild != null && onlyChild.firstHash() == hash ? onlyChild : null;
  }

  /** Takes a child in, in the place of one that begins with the same block. */
  void put(SequenceRun child) {
    long hash = child.firstHash();
    if (children == null) {
      if (onlyChild == null || onlyChild.firstHash() == hash) {
        onlyChild = child;
        return;
      }
      children = new Long2ObjectOpenHashMap<>(4);
      children.put(onlyChild.firstHash(), onlyChild);
      onlyChild = null;
    }
    children.put(hash, child);
  }

  void remove(SequenceRun child) {
    if (children == null) {
      onlyChild = null;
      return;
    }
    children.remove(child.firstHash());
    if (children.size() == 1) {
      onlyChild = children.values().iterator().next();
      children = null;
    }
  }

  private long firstHash() {
    return hashes[from];
  }
}
