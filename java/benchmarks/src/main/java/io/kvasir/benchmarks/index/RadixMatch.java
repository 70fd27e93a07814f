package io.kvasir.benchmarks.index;

import io.kvasir.fleet.index.RankMatches;

/** Performs look-ups one at a time in reused memory. Not thread-safe. */
final class RadixMatch {

  /** Ranks that hold all blocks so far, ascending. */
  private int[] active = new int[16];

  private int size;

  void find(RadixNode root, RadixRanks ranks, long[] prompt, int blocks, RankMatches matches) {
    matches.clear();
    RadixNode node = blocks == 0 ? null : root.child(prompt[0]);
    if (node == null) {
      return;
    }
    begin(node);
    int depth = 0;
    while (node != null && size > 0) {
      int common = node.common(0, prompt, depth, blocks);
      keep(node, common, depth, ranks, matches);
      depth += common;
      node = common == node.length() && depth < blocks ? node.child(prompt[depth]) : null;
    }
    for (int i = 0; i < size; i++) {
      add(ranks, active[i], depth, matches);
    }
  }

  private void begin(RadixNode node) {
    size = node.holders();
    if (active.length < size) {
      active = new int[2 * size];
    }
    for (int i = 0; i < size; i++) {
      active[i] = node.slot(i);
    }
  }

  /** Keeps the ranks that hold all of a node's common blocks, and reports the others. */
  private void keep(RadixNode node, int common, int depth, RadixRanks ranks, RankMatches matches) {
    boolean walk = size * 4 >= node.holders();
    int kept = 0;
    int holder = 0;
    for (int i = 0; i < size; i++) {
      int slot = active[i];
      if (walk) {
        while (holder < node.holders() && node.slot(holder) < slot) {
          holder++;
        }
      } else {
        holder = node.find(slot);
      }
      boolean here = holder >= 0 && holder < node.holders() && node.slot(holder) == slot;
      int held = here ? node.heldBy(holder) : 0;
      if (held >= common) {
        active[kept++] = slot;
      } else {
        add(ranks, slot, depth + held, matches);
      }
    }
    size = kept;
  }

  private static void add(RadixRanks ranks, int slot, int blocks, RankMatches matches) {
    RadixRank rank = ranks.at(slot);
    if (rank.visible) {
      matches.add(rank.id, blocks);
    }
  }
}
