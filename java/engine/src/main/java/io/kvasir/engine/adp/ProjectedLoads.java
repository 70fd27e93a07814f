package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;
import io.kvasir.timing.GroupTiming;
import java.util.Arrays;
import java.util.List;

/**
 * The projected work of the live ranks while a batch is placed, in modelled milliseconds, and the
 * pace of their joint steps.
 *
 * <p>Not thread-safe. Arrays are reused from batch to batch.
 */
final class ProjectedLoads {

  /** Steps of look-ahead; a longer prefill queue is modelled as this many longer steps. */
  private static final int HORIZON = 32;

  private final GroupTiming timing;
  private final int maxNumTokens;
  private final PlacementClock clock;
  private final long[] tokens;
  private final double[] pairs;
  private final double[] decodeMs;
  private final double[] free;
  private final double[] ages;
  private double oldest;
  private long largestPool;

  /** Duration of the longest k-th step from now; {@link #idleMs} where no rank prefills. */
  private final double[] pace = new double[HORIZON];

  /** Duration of a step in which no rank prefills. */
  private double idleMs;

  /* The time for the prefill queued on each rank, the sum of these times, and the longest. */
  private final double[] queueMs;
  private double allQueuesMs;
  private double longestQueueMs;
  private int live;

  ProjectedLoads(int ranks, GroupTiming timing, int maxNumTokens) {
    this.timing = timing;
    this.maxNumTokens = maxNumTokens;
    this.clock = new PlacementClock(ranks);
    this.tokens = new long[ranks];
    this.pairs = new double[ranks];
    this.decodeMs = new double[ranks];
    this.free = new double[ranks];
    this.ages = new double[ranks];
    this.queueMs = new double[ranks];
  }

  /** Starts a batch. A rank of unknown work is assumed to compute its active tokens. */
  void begin(List<RankState> states) {
    idleMs = 0;
    oldest = 1;
    largestPool = 0;
    allQueuesMs = 0;
    longestQueueMs = 0;
    live = states.size();
    for (RankState state : states) {
      int rank = state.rank();
      RankWork work = state.work();
      tokens[rank] = work != null ? work.prefillTokens() : state.activeTokens();
      pairs[rank] =
          work != null ? work.attendedPairs() : RankWork.attendedPairs(0, state.activeTokens());
      decodeMs[rank] =
          work != null && work.decodingRequests() > 0
              ? timing.factor(rank)
                  * timing.decodeMs(work.decodingRequests(), work.decodeKvTokens())
              : 0;
      idleMs = Math.max(idleMs, decodeMs[rank]);
      queueMs[rank] = 0;
      noteQueue(rank);
      readOccupancy(rank, state);
    }
    Arrays.fill(pace, idleMs);
    for (RankState state : states) {
      raisePace(state.rank());
    }
  }

  private void readOccupancy(int rank, RankState state) {
    Occupancy occupancy = state.occupancy();
    free[rank] = Double.POSITIVE_INFINITY;
    ages[rank] = 0;
    if (occupancy != null) {
      clock.sample(rank, occupancy.tick());
      free[rank] = occupancy.freeBlocks() - state.queuedBlocks();
      ages[rank] = clock.age(rank, occupancy.oldestEvictableTick());
      oldest = Math.max(oldest, ages[rank]);
      largestPool = Math.max(largestPool, occupancy.capacityBlocks());
    }
  }

  /**
   * Adds a placed request: {@code uncached} tokens to compute after {@code context} reusable ones.
   */
  void add(int rank, long uncached, long context, long blocks) {
    tokens[rank] += uncached;
    pairs[rank] += RankWork.attendedPairs(context, uncached);
    free[rank] -= blocks;
    clock.advance();
    noteQueue(rank);
    raisePace(rank);
  }

  private void noteQueue(int rank) {
    double beforeMs = queueMs[rank];
    queueMs[rank] = timing.factor(rank) * prefillMs(tokens[rank], pairs[rank]);
    allQueuesMs += queueMs[rank] - beforeMs;
    longestQueueMs = Math.max(longestQueueMs, queueMs[rank]);
  }

  /**
   * The delay that prefill on a rank causes to later requests. Prefill that lengthens the longest
   * queue counts fully, because all ranks step until that queue is done. Other prefill counts by
   * the share of this time for which ranks have prefill: the fewer have some, the more later
   * requests find an idle rank.
   */
  double takenMs(int rank, double computeMs) {
    double longerMs = Math.max(0, queueMs[rank] + computeMs - longestQueueMs);
    return longerMs >= computeMs
        ? computeMs
        : longerMs + (computeMs - longerMs) * (allQueuesMs / (live * longestQueueMs));
  }

  private void raisePace(int rank) {
    int steps = steps(tokens[rank]);
    double eachMs = queuedMs(rank) / Math.max(1, steps) + decodeMs[rank];
    for (int k = 0; k < steps; k++) {
      pace[k] = Math.max(pace[k], eachMs);
    }
  }

  private int steps(long prefillTokens) {
    return (int) Math.min(HORIZON, (prefillTokens + maxNumTokens - 1) / maxNumTokens);
  }

  /** The rank's own time for the prefill queued on it. */
  double queuedMs(int rank) {
    return queueMs[rank];
  }

  /** The rank's own time for a request. */
  double computeMs(int rank, long uncached, long context) {
    return timing.factor(rank) * prefillMs(uncached, RankWork.attendedPairs(context, uncached));
  }

  private double prefillMs(long prefillTokens, double attendedPairs) {
    long steps = (prefillTokens + maxNumTokens - 1) / maxNumTokens;
    return timing.prefillMs(prefillTokens, attendedPairs, steps);
  }

  /**
   * The time that lock-step adds until a rank has computed its queued prefill and one more request.
   * Each of its steps takes as long as the longest step of any rank, and decoding continues in it.
   *
   * @param ownMs the rank's own time for its queue and the request
   */
  double stretchMs(int rank, long uncached, double ownMs) {
    int steps = Math.max(1, steps(tokens[rank] + uncached));
    double eachMs = ownMs / steps + decodeMs[rank];
    double together = 0;
    for (int k = 0; k < steps; k++) {
      together += Math.max(pace[k], eachMs);
    }
    return together - ownMs;
  }

  /**
   * The time to recompute the cached blocks that would be evicted, scaled down by age: 0 on the
   * rank whose oldest block has been unused for the longest time.
   */
  double evictedMs(int rank, long blocks, int tokensPerBlock) {
    double evicted = Math.max(0.0, Math.min((double) blocks, blocks - free[rank]));
    double ms = timing.factor(rank) * timing.prefillMs(Math.round(evicted) * tokensPerBlock, 0, 0);
    return ms * (1 - ages[rank] / oldest);
  }

  /**
   * Placements for which a rank's pool keeps an unused block; infinite while it has free blocks.
   */
  double keptPlacements(int rank) {
    return free[rank] > 0 ? Double.POSITIVE_INFINITY : ages[rank];
  }

  /** Whether some pool, when empty, is large enough for {@code blocks}. */
  boolean fitsSomePool(long blocks) {
    return blocks <= largestPool;
  }

  /** Requests placed so far. */
  long placed() {
    return clock.now();
  }
}
