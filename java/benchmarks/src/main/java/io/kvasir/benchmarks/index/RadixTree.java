package io.kvasir.benchmarks.index;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The nodes of a {@link RadixIndex} and their updates. Not thread-safe.
 *
 * <p>A handle's place is a node number and a depth. When a run is split, handles still refer to its
 * head; the block is found by following {@code tail} until the depth is reached. A node exists
 * while a rank holds some of it or it has children.
 */
final class RadixTree {

  private final List<RadixNode> nodes = new ArrayList<>();
  private final IntArrayList freeNumbers = new IntArrayList();
  private final RadixNode root = RadixNode.root();

  /** Handles of the current call that already had a place, and that place. */
  private final LongArrayList renamed = new LongArrayList();

  RadixNode root() {
    return root;
  }

  /** The sequence hash of the block at a place. */
  long hash(long place) {
    RadixNode node = node(place);
    return node.hash((int) place - node.start);
  }

  private RadixNode node(long place) {
    RadixNode node = nodes.get((int) (place >>> 32));
    int depth = (int) place;
    while (depth >= node.start + node.length()) {
      node = Objects.requireNonNull(node.tail); // it holds the place's block
    }
    return node;
  }

  /**
   * Stores blocks after a place, or from the root on.
   *
   * @return whether any block is new
   */
  boolean store(RadixRank rank, long place, long[] handles, long[] hashes, int count) {
    RadixNode node = place == RadixRank.NOTHING ? root : node(place);
    int depth = place == RadixRank.NOTHING ? 0 : (int) place + 1;
    renamed.clear();
    int known = rank.places.size();
    int done = 0;
    while (done < count) {
      if (depth + done == node.start + node.length()) {
        node = next(node, rank, hashes, done, count);
      }
      int at = depth + done - node.start;
      int run = node.common(at, hashes, done, count);
      if (run == 0) {
        split(node, at);
        continue;
      }
      if (node.heldBySlot(rank.slot) < at) {
        node = split(node, at); // after a missing block
        at = 0;
      }
      cover(rank, node, at, handles, done, run);
      done += run;
    }
    boolean changed = rank.places.size() != known;
    return settleRenamed(rank) || changed;
  }

  /** The node for the remaining blocks: a child, this leaf after extension, or a new one. */
  private RadixNode next(RadixNode node, RadixRank rank, long[] hashes, int from, int to) {
    RadixNode child = node.child(hashes[from]);
    if (child != null) {
      return child;
    }
    if (node != root && node.isLeaf() && node.heldBySlot(rank.slot) == node.length()) {
      node.append(hashes, from, to);
      return node;
    }
    RadixNode made =
        new RadixNode(
            newNumber(),
            node,
            node.start + node.length(),
            Arrays.copyOfRange(hashes, from, to),
            to - from);
    nodes.set(made.number, made);
    node.addChild(made);
    return made;
  }

  /** Adds a run of blocks to a rank under their handles. */
  private void cover(RadixRank rank, RadixNode node, int at, long[] handles, int from, int run) {
    int held = node.heldBySlot(rank.slot);
    for (int i = 0; i < run; i++) {
      long before = rank.places.put(handles[from + i], RadixRank.place(node, at + i));
      if (before != RadixRank.NOTHING) {
        renamed.add(handles[from + i]);
        renamed.add(before);
      }
      if (at + i < held) {
        rank.furtherNames.addTo(node.hash(at + i), 1);
      }
    }
    if (at + run > held) {
      node.hold(rank.slot, at + run);
    }
  }

  /**
   * Removes the previous blocks of reassigned handles; true if any of them was a different block.
   */
  private boolean settleRenamed(RadixRank rank) {
    boolean changed = false;
    for (int i = 0; i < renamed.size(); i += 2) {
      long before = renamed.getLong(i + 1);
      changed |= hash(before) != hash(rank.places.get(renamed.getLong(i)));
      RadixNode node = node(before);
      unname(rank, node, (int) before - node.start);
      shrink(node);
    }
    return changed;
  }

  /**
   * Removes handles, deepest block first, so that a run is not split block by block.
   *
   * @return whether all handles were known
   */
  boolean remove(RadixRank rank, long[] handles) {
    boolean all = true;
    RadixNode last = null;
    int end = handles.length - 1;
    boolean forward = depth(rank, handles[0]) >= depth(rank, handles[end]);
    for (int i = 0; i <= end; i++) {
      long place = rank.places.remove(handles[forward ? i : end - i]);
      if (place == RadixRank.NOTHING) {
        all = false;
        continue;
      }
      RadixNode node = node(place);
      if (last != null && node != last) {
        shrink(last);
      }
      unname(rank, node, (int) place - node.start);
      last = node;
    }
    if (last != null) {
      shrink(last);
    }
    return all;
  }

  private static int depth(RadixRank rank, long handle) {
    return (int) rank.places.get(handle);
  }

  private void unname(RadixRank rank, RadixNode node, int offset) {
    if (!rank.furtherNames.isEmpty()) {
      long block = node.hash(offset);
      int further = rank.furtherNames.get(block);
      if (further > 1) {
        rank.furtherNames.put(block, further - 1);
        return;
      }
      if (further == 1) {
        rank.furtherNames.remove(block);
        return;
      }
    }
    if (offset + 1 < node.heldBySlot(rank.slot)) {
      split(node, offset + 1); // leaves a missing block
    }
    node.hold(rank.slot, offset);
  }

  /** Removes all of a rank's handles. */
  void clear(RadixRank rank) {
    List<RadixNode> left = new ArrayList<>();
    for (long place : rank.places.values()) {
      RadixNode node = node(place);
      if (node.heldBySlot(rank.slot) > 0) {
        node.hold(rank.slot, 0);
        left.add(node);
      }
    }
    rank.places.clear();
    rank.places.trim();
    rank.furtherNames.clear();
    left.forEach(this::shrink);
  }

  private RadixNode split(RadixNode node, int at) {
    RadixNode behind = node.split(at, newNumber());
    nodes.set(behind.number, behind);
    return behind;
  }

  /** Truncates ends that no rank holds and removes empty nodes, up to the root. */
  private void shrink(RadixNode from) {
    RadixNode node = from;
    while (node != root && node.number >= 0 && node.isLeaf()) {
      int longest = node.longestHeld();
      if (longest > 0) {
        if (longest < node.length()) {
          node.truncate(longest);
        }
        return;
      }
      node.parent.removeChild(node);
      nodes.set(node.number, null);
      freeNumbers.add(node.number);
      node.number = -1;
      node = node.parent;
    }
  }

  private int newNumber() {
    if (!freeNumbers.isEmpty()) {
      return freeNumbers.popInt();
    }
    nodes.add(null);
    return nodes.size() - 1;
  }

  long bytes() {
    long bytes = (long) Integer.BYTES * nodes.size() + root.bytes();
    for (RadixNode node : nodes) {
      if (node != null) {
        bytes += node.bytes();
      }
    }
    return bytes;
  }

  /** Blocks that some rank holds. */
  long heldBlocks() {
    long blocks = 0;
    for (RadixNode node : nodes) {
      if (node != null) {
        blocks += node.longestHeld();
      }
    }
    return blocks;
  }
}
