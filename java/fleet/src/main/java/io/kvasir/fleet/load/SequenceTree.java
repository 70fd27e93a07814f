package io.kvasir.fleet.load;

import java.util.Arrays;

/**
 * The named blocks of the requests in flight, and on which ranks they are in use. Sequence hashes
 * are chained, so requests that have a block in common have all blocks before it in common: the
 * blocks form a tree. Not thread-safe.
 */
/*
 * The tree's edges are compressed. A run of blocks, from where requests part ways or one ends to
 * where that happens next, is one node, with the number of its users on each rank. Hashes lie side
 * by side in the runs, so a prompt is looked up by comparing arrays, for all ranks at once, and a
 * request that ends leaves whole runs. There is nothing per block but its hash.
 *
 * Invariants. The root has no blocks. Every other run has at least one block and one user, and a
 * request ends there or it has two children or more; hence there are at most twice as many runs as
 * requests. A child's users are among its parent's. A run's array holds the whole sequence up to the
 * run's end, so that a run can begin earlier (parent and child grow together) or later (it is split)
 * without copying; it is not much longer than that, so that a short run does not hold on to the
 * array of a long request which has ended. Arrays may be shared by a run and the runs before it;
 * only a leaf's is written to, and only behind the end of all of them.
 */
final class SequenceTree {

  private static final int SPARE = 8;

  private final SequenceRun root = SequenceRun.root();
  private long[] blocksByRank = new long[0];
  private int runs;
  private long blocks;

  /** Where sequences without a named block end. */
  SequenceRun root() {
    return root;
  }

  /** Runs of blocks. */
  int runs() {
    return runs;
  }

  /** Distinct blocks in use. */
  long blocks() {
    return blocks;
  }

  /** Distinct blocks in use on a rank. */
  long blocks(int rank) {
    return blocksByRank[rank];
  }

  /** Makes room for ranks below a number. O(ranks). */
  void allowRanks(int ranks) {
    blocksByRank = Arrays.copyOf(blocksByRank, ranks);
  }

  /** A request on a rank begins to use blocks. O(blocks). Returns where its sequence ends. */
  SequenceRun begin(long[] hashes, int count, int rank) {
    return descend(root, hashes, count, rank, false);
  }

  /** A request goes on behind where it ended. O(added) mostly, O(all its blocks) at worst. */
  SequenceRun extend(SequenceRun end, long[] added, int count, int rank) {
    int to = end.to + count;
    if (end != root && end.ends == 1 && !end.hasChildren()) {
      if (to > end.hashes.length) {
        end.hashes = Arrays.copyOf(end.hashes, to + (to >> 2) + SPARE);
      }
      System.arraycopy(added, 0, end.hashes, end.to, count);
      end.to = to;
      blocks += count;
      blocksByRank[rank] += count;
      return end;
    }
    long[] hashes = Arrays.copyOf(end.hashes, to);
    System.arraycopy(added, 0, hashes, end.to, count);
    end.ends--;
    SequenceRun newEnd = descend(end, hashes, to, rank, true);
    mergeIfNeedless(end);
    return newEnd;
  }

  /** A request ends. O(runs of its sequence), which are at most its blocks. */
  void end(SequenceRun end, int rank) {
    end.ends--;
    for (SequenceRun run = end; run != root; ) {
      SequenceRun parent = run.parent;
      if (run.users.remove(rank)) {
        blocksByRank[rank] -= run.blocks();
      }
      if (run.users.isEmpty()) {
        parent.remove(run);
        runs--;
        blocks -= run.blocks();
      } else {
        mergeIfNeedless(run);
      }
      run = parent;
    }
  }

  /** Blocks of a request that no other request of its rank uses. O(runs of its sequence). */
  int exclusiveBlocks(SequenceRun end, int rank) {
    SequenceRun run = end;
    while (run != root && run.users.count(rank) == 1) {
      run = run.parent;
    }
    return end.to - run.to;
  }

  /** Adds to each rank's number the blocks among these that are in use there. O(blocks + ranks). */
  void count(long[] hashes, int count, int[] byRank) {
    SequenceRun run = root;
    int at = 0;
    while (at == run.to && at < count) {
      run = run.child(hashes[at]);
      if (run == null) {
        return;
      }
      int same = same(run, hashes, count);
      run.users.addTo(byRank, same - at);
      at = same;
    }
  }

  private SequenceRun descend(SequenceRun from, long[] hashes, int count, int rank, boolean keep) {
    SequenceRun run = from;
    while (run.to < count) {
      SequenceRun child = run.child(hashes[run.to]);
      if (child == null) {
        long[] kept = keep ? hashes : Arrays.copyOf(hashes, count);
        child = new SequenceRun(run, kept, run.to, count, new RankUsers());
        run.put(child);
        runs++;
        blocks += child.blocks();
      } else {
        int same = same(child, hashes, count);
        child = same < child.to ? split(child, same) : child;
      }
      if (child.users.add(rank)) {
        blocksByRank[rank] += child.blocks();
      }
      run = child;
    }
    run.ends++;
    return run;
  }

  /** How far a sequence that has a run's first block goes along with it. */
  private static int same(SequenceRun run, long[] hashes, int count) {
    int to = Math.min(run.to, count);
    int same = Arrays.mismatch(run.hashes, run.from, to, hashes, run.from, to);
    return same < 0 ? to : run.from + same;
  }

  /** Makes two runs of one; the first of them, which is new, goes as far as {@code at}. */
  private SequenceRun split(SequenceRun run, int at) {
    long[] hashes = run.hashes.length > 2 * at ? Arrays.copyOf(run.hashes, at) : run.hashes;
    SequenceRun first = new SequenceRun(run.parent, hashes, run.from, at, run.users.copy());
    first.parent.put(first);
    run.from = at;
    run.parent = first;
    first.put(run);
    runs++;
    return first;
  }

  /** Lets a run's only child begin where the run does, if no request ends between them. */
  private void mergeIfNeedless(SequenceRun run) {
    SequenceRun child = run.onlyChild();
    if (run == root || run.ends > 0 || child == null) {
      return;
    }
    child.from = run.from;
    child.parent = run.parent;
    run.parent.put(child);
    runs--;
  }
}
