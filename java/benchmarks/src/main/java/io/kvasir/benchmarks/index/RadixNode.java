package io.kvasir.benchmarks.index;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A run of blocks shared by prompts, with the number of leading blocks that each rank holds. Not
 * thread-safe.
 */
final class RadixNode {

  /** Object header and fields, with compressed references. */
  private static final int NODE_BYTES = 56;

  private static final int ARRAY_BYTES = 16;
  private static final int MAP_BYTES = 64;

  /** Number of this node in the index; -1 once it is removed. */
  int number;

  /** Depth of the first block. */
  int start;

  /** The node before it; of the root itself. */
  RadixNode parent;

  /** The node that was last split off this one's end; null once it is removed. */
  @Nullable RadixNode tail;

  private long[] hashes;
  private int length;
  private @Nullable Long2ObjectOpenHashMap<RadixNode> children;

  /** Slots of the ranks that hold at least the first block, ascending. */
  private int[] slots = new int[1];

  /** By holder, number of leading blocks of the run that it holds. */
  private int[] held = new int[1];

  private int holders;

  RadixNode(int number, RadixNode parent, int start, long[] hashes, int length) {
    this.number = number;
    this.parent = parent;
    this.start = start;
    this.hashes = hashes;
    this.length = length;
  }

  private RadixNode() {
    this.number = -1;
    this.parent = this;
    this.hashes = new long[0];
  }

  /** A node without blocks, before all others. */
  static RadixNode root() {
    return new RadixNode();
  }

  int length() {
    return length;
  }

  long hash(int offset) {
    return hashes[offset];
  }

  /** How many blocks from {@code at} on equal those of a prompt from {@code from} on. */
  int common(int at, long[] prompt, int from, int to) {
    int most = Math.min(length - at, to - from);
    int differs = Arrays.mismatch(hashes, at, at + most, prompt, from, from + most);
    return differs < 0 ? most : differs;
  }

  boolean isLeaf() {
    return children == null || children.isEmpty();
  }

  @Nullable RadixNode child(long first) {
    return children == null ? null : children.get(first);
  }

  void addChild(RadixNode child) {
    if (children == null) {
      children = new Long2ObjectOpenHashMap<>(2);
    }
    children.put(child.hash(0), child);
  }

  void removeChild(RadixNode child) {
    if (tail == child) {
      tail = null;
    }
    if (children != null) {
      children.remove(child.hash(0));
      if (children.isEmpty()) {
        children = null;
        tail = null;
      }
    }
  }

  /** Extends the run; the other ranks' counts do not change. */
  void append(long[] prompt, int from, int to) {
    int wanted = length + to - from;
    if (wanted > hashes.length) {
      hashes = Arrays.copyOf(hashes, Math.max(wanted, hashes.length + (hashes.length >> 1)));
    }
    System.arraycopy(prompt, from, hashes, length, to - from);
    length = wanted;
  }

  /** Truncates the run, and shrinks its arrays if that frees much memory. */
  void truncate(int blocks) {
    length = blocks;
    if (blocks < hashes.length / 2) {
      hashes = Arrays.copyOf(hashes, blocks);
    }
  }

  /** Moves the blocks from {@code at} on, with children and holders, to a new child node. */
  RadixNode split(int at, int newNumber) {
    RadixNode behind =
        new RadixNode(
            newNumber, this, start + at, Arrays.copyOfRange(hashes, at, length), length - at);
    behind.children = children;
    behind.tail = tail;
    if (children != null) {
      children.values().forEach(child -> child.parent = behind);
    }
    for (int i = 0; i < holders; i++) {
      if (held[i] > at) {
        behind.hold(slots[i], held[i] - at);
        held[i] = at;
      }
    }
    children = null;
    tail = behind;
    truncate(at);
    addChild(behind);
    return behind;
  }

  int holders() {
    return holders;
  }

  int slot(int holder) {
    return slots[holder];
  }

  int heldBy(int holder) {
    return held[holder];
  }

  /** Index of a holder, or -1 minus its insertion point. */
  int find(int slot) {
    if (holders == 1) {
      return slots[0] == slot ? 0 : slots[0] < slot ? -2 : -1;
    }
    return Arrays.binarySearch(slots, 0, holders, slot);
  }

  int heldBySlot(int slot) {
    int holder = find(slot);
    return holder < 0 ? 0 : held[holder];
  }

  /** Sets how many leading blocks a rank holds; 0 removes it from the holders. */
  void hold(int slot, int blocks) {
    int holder = find(slot);
    if (holder >= 0 && blocks > 0) {
      held[holder] = blocks;
    } else if (holder >= 0) {
      holders--;
      System.arraycopy(slots, holder + 1, slots, holder, holders - holder);
      System.arraycopy(held, holder + 1, held, holder, holders - holder);
    } else if (blocks > 0) {
      insert(-1 - holder, slot, blocks);
    }
  }

  private void insert(int at, int slot, int blocks) {
    if (holders == slots.length) {
      slots = Arrays.copyOf(slots, 2 * holders);
      held = Arrays.copyOf(held, 2 * holders);
    }
    System.arraycopy(slots, at, slots, at + 1, holders - at);
    System.arraycopy(held, at, held, at + 1, holders - at);
    slots[at] = slot;
    held[at] = blocks;
    holders++;
  }

  /** The most leading blocks of the run held by any rank. */
  int longestHeld() {
    int longest = 0;
    for (int i = 0; i < holders; i++) {
      longest = Math.max(longest, held[i]);
    }
    return longest;
  }

  /**
   * Minimum memory of the node without its children, on a 64-bit JVM with compressed references.
   */
  long bytes() {
    long bytes = NODE_BYTES + ARRAY_BYTES + (long) Long.BYTES * hashes.length;
    bytes += 2L * (ARRAY_BYTES + (long) Integer.BYTES * slots.length);
    if (children != null) {
      int slotsOfMap = HashCommon.arraySize(Math.max(2, children.size()), .75f) + 1;
      bytes += MAP_BYTES + 2 * ARRAY_BYTES + (long) (Long.BYTES + Integer.BYTES) * slotsOfMap;
    }
    return bytes;
  }
}
