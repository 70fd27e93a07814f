package io.kvasir.fleet.load;

import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The ranks of one model and their running totals, blocks without a name among them. A rank goes by
 * a small number, its slot, which is given to another rank when it has left. Not thread-safe.
 * Coming and going cost O(ranks), everything else O(1).
 */
final class LoadedRanks {

  static final int NONE = -1;

  private final Object2IntOpenHashMap<RankId> slots = new Object2IntOpenHashMap<>();

  /** Taken slots in ascending order of their ranks. */
  private int[] order = new int[8];

  private RankId[] ids = new RankId[8];
  private long[] ownBlocks = new long[8];
  private long[] prefillTokens = new long[8];
  private int[] requests = new int[8];

  /** Thousandths of blocks by which the load is discounted. */
  private long[] discounts = new long[8];

  /** Slots whose prefill tokens or blocks may have become fewer, each once. */
  private final IntArrayList eased = new IntArrayList();

  private boolean[] isEased = new boolean[8];

  LoadedRanks() {
    slots.defaultReturnValue(NONE);
  }

  int size() {
    return slots.size();
  }

  /** Slots in use are below this number. */
  int slotLimit() {
    return ids.length;
  }

  /** A rank's slot, or {@link #NONE}. */
  int slot(RankId rank) {
    return slots.getInt(rank);
  }

  /** The rank in a taken slot. */
  RankId rank(int slot) {
    return ids[slot];
  }

  /** Gives a rank that is not here the lowest free slot. */
  void add(RankId rank) {
    int slot = 0;
    while (slot < ids.length && ids[slot] != null) {
      slot++;
    }
    if (slot == ids.length) {
      ids = Arrays.copyOf(ids, 2 * slot);
      order = Arrays.copyOf(order, 2 * slot);
      ownBlocks = Arrays.copyOf(ownBlocks, 2 * slot);
      prefillTokens = Arrays.copyOf(prefillTokens, 2 * slot);
      requests = Arrays.copyOf(requests, 2 * slot);
      discounts = Arrays.copyOf(discounts, 2 * slot);
      isEased = Arrays.copyOf(isEased, 2 * slot);
    }
    int at = size();
    for (; at > 0 && ids[order[at - 1]].compareTo(rank) > 0; at--) {
      order[at] = order[at - 1];
    }
    order[at] = slot;
    ids[slot] = rank;
    slots.put(rank, slot);
  }

  /** Takes a rank away whose requests have all ended. */
  void remove(int slot) {
    int at = 0;
    while (order[at] != slot) {
      at++;
    }
    System.arraycopy(order, at + 1, order, at, size() - at - 1);
    slots.removeInt(ids[slot]);
    ids[slot] = null;
  }

  void book(int slot, long blocks, int prefill) {
    requests[slot]++;
    ownBlocks[slot] += blocks;
    prefillTokens[slot] += prefill;
  }

  void release(int slot, long blocks, int prefill) {
    requests[slot]--;
    ownBlocks[slot] -= blocks;
    prefillTokens[slot] -= prefill;
    ease(slot);
  }

  void addOwnBlocks(int slot, long blocks) {
    ownBlocks[slot] += blocks;
    if (blocks < 0) {
      ease(slot);
    }
  }

  void discount(int slot, long thousandths) {
    discounts[slot] += thousandths;
  }

  void prefilled(int slot, int prefill) {
    prefillTokens[slot] -= prefill;
    ease(slot);
  }

  /** The rank in a slot may have room that it had not before. */
  void ease(int slot) {
    if (!isEased[slot]) {
      isEased[slot] = true;
      eased.add(slot);
    }
  }

  /** Keeps those of the eased ranks that satisfy a condition, and returns them. O(eased ranks). */
  List<RankId> retainEased(RankCondition condition, SequenceTree named) {
    if (eased.isEmpty()) {
      return List.of();
    }
    List<RankId> retained = new ArrayList<>();
    int kept = 0;
    for (int i = 0; i < eased.size(); i++) {
      int slot = eased.getInt(i);
      RankId rank = ids[slot];
      if (rank != null
          && condition.test(rank, prefillTokens[slot], ownBlocks[slot] + named.blocks(slot))) {
        retained.add(rank);
        eased.set(kept++, slot);
      } else {
        isEased[slot] = false;
      }
    }
    eased.size(kept);
    return retained;
  }

  /** Writes all totals, and what a request adds; so many of its blocks are in use, by slot. */
  void write(PredictedLoads out, SequenceTree named, int requestBlocks, int[] liveBlocks) {
    out.clear(size());
    for (int i = 0; i < size(); i++) {
      int slot = order[i];
      out.add(
          ids[slot],
          ownBlocks[slot] + named.blocks(slot),
          requestBlocks - liveBlocks[slot],
          prefillTokens[slot],
          requests[slot],
          discounts[slot]);
    }
  }
}
