package io.kvasir.benchmarks.index;

import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.ArrayList;
import java.util.List;

/** Assigns small numbers, called slots, to ranks. Not thread-safe. */
final class RadixRanks {

  private final List<RadixRank> bySlot = new ArrayList<>();
  private final IntArrayList free = new IntArrayList();

  RadixRank add(RankId id, boolean visible) {
    int slot = free.isEmpty() ? bySlot.size() : free.popInt();
    RadixRank rank = new RadixRank(id, slot, visible);
    if (slot == bySlot.size()) {
      bySlot.add(rank);
    } else {
      bySlot.set(slot, rank);
    }
    return rank;
  }

  void remove(RadixRank rank) {
    bySlot.set(rank.slot, null);
    free.add(rank.slot);
  }

  RadixRank at(int slot) {
    return bySlot.get(slot);
  }
}
