package io.kvasir.simulator.replay;

import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.ints.Int2LongMap;
import it.unimi.dsi.fastutil.ints.Int2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds in one pass how large a pool must be for each reuse: a block is still there if no more than
 * the pool's blocks were used since its last use, itself included. A tree of sums over the times of
 * last uses counts them, as Bennett and Kruskal's algorithm does.
 *
 * <p>Not thread-safe.
 */
final class ReuseDistances {

  private static final int FIRST_TIMES = 1 << 12;
  private static final int POINTS = 64;

  private final int tokensPerBlock;
  private final Long2IntOpenHashMap lastUse = new Long2IntOpenHashMap();

  /** Blocks that were reused, by the number of blocks that a pool must have for that. */
  private final Int2LongOpenHashMap reuses = new Int2LongOpenHashMap();

  private long[] usedAt = new long[FIRST_TIMES];
  private int[] sums = new int[FIRST_TIMES + 1];
  private int now;
  private long promptTokens;

  ReuseDistances(int tokensPerBlock) {
    this.tokensPerBlock = tokensPerBlock;
    lastUse.defaultReturnValue(-1);
  }

  /**
   * Serves a request. O(blocks x log blocks).
   *
   * @param request the request
   * @param sequenceHashes sequence hashes of its prompt's full blocks
   * @param answeredTokens leading tokens computed by an earlier turn
   */
  void serve(Request request, long[] sequenceHashes, int answeredTokens) {
    promptTokens += request.promptTokens();
    int reusable = (request.promptTokens() - 1) / tokensPerBlock;
    int answered = answeredTokens / tokensPerBlock;
    int needed = 0;
    for (int block = 0; block < reusable; block++) {
      int time = lastUse.get(sequenceHashes[block]);
      if (time >= 0) {
        needed = Math.max(needed + 1, lastUse.size() - sumBefore(time));
      } else if (block < answered) {
        needed++; // computed with the blocks before it
      } else {
        break;
      }
      reuses.addTo(needed, 1);
    }
    for (int block = sequenceHashes.length - 1; block >= 0; block--) {
      use(sequenceHashes[block]);
    }
  }

  private void use(long hash) {
    if (now == usedAt.length) {
      renumber();
    }
    int before = lastUse.put(hash, now);
    if (before >= 0) {
      add(before, -1);
    }
    usedAt[now] = hash;
    add(now++, 1);
  }

  /** Gives the last uses the lowest times in their order. */
  private void renumber() {
    long[] kept = new long[Math.max(FIRST_TIMES, 2 * lastUse.size())];
    int times = 0;
    for (int time = 0; time < now; time++) {
      if (lastUse.get(usedAt[time]) == time) {
        kept[times] = usedAt[time];
        lastUse.put(usedAt[time], times++);
      }
    }
    usedAt = kept;
    sums = new int[kept.length + 1];
    for (int time = 0; time < times; time++) {
      sums[time + 1] = 1;
    }
    for (int node = 1; node < sums.length; node++) {
      int parent = node + (node & -node);
      if (parent < sums.length) {
        sums[parent] += sums[node];
      }
    }
    now = times;
  }

  private void add(int time, int change) {
    for (int node = time + 1; node < sums.length; node += node & -node) {
      sums[node] += change;
    }
  }

  /** Last uses before a time. */
  private int sumBefore(int time) {
    int sum = 0;
    for (int node = time; node > 0; node -= node & -node) {
      sum += sums[node];
    }
    return sum;
  }

  /** The curve from the smallest pool that has a hit to one that is never full. */
  ReuseCurve curve() {
    int most = Math.max(1, lastUse.size());
    List<ReuseCurve.Point> points = new ArrayList<>();
    long previous = 0;
    for (int i = 0; i < POINTS; i++) {
      long blocks = Math.round(Math.pow(most, (i + 1.0) / POINTS));
      if (blocks > previous) {
        points.add(new ReuseCurve.Point(blocks * tokensPerBlock, hitRate(blocks)));
        previous = blocks;
      }
    }
    return new ReuseCurve(points);
  }

  private double hitRate(long blocks) {
    long hits = 0;
    for (Int2LongMap.Entry reuse : reuses.int2LongEntrySet()) {
      hits += reuse.getIntKey() <= blocks ? reuse.getLongValue() : 0;
    }
    return promptTokens == 0 ? Double.NaN : (double) hits * tokensPerBlock / promptTokens;
  }
}
