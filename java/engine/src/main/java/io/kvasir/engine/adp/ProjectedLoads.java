package io.kvasir.engine.adp;

import io.kvasir.engine.pool.Occupancy;
import java.util.Arrays;
import java.util.List;

/**
 * What the live ranks have to compute while a batch is placed, in modelled milliseconds, and the
 * pace at which they will step together.
 *
 * <p>Not thread-safe. Arrays are reused from batch to batch.
 */
final class ProjectedLoads {

  /** Steps that are looked ahead; a longer line is taken as that many longer steps. */
  private static final int HORIZON = 32;

  private final StepTiming timing;
  private final int maxNumTokens;
  private final PlacementClock clock;
  private final long[] tokens;
  private final double[] pairs;
  private final double[] decodeMs;
  private final double[] free;
  private final double[] ages;
  private double oldest;
  private long largestPool;

  /** How long the longest k-th step from now on takes; beyond them {@link #idleMs}. */
  private final double[] pace = new double[HORIZON];

  /** How long a step takes in which nobody prefills. */
  private double idleMs;

  ProjectedLoads(int ranks, StepTiming timing, int maxNumTokens) {
    this.timing = timing;
    this.maxNumTokens = maxNumTokens;
    this.clock = new PlacementClock(ranks);
    this.tokens = new long[ranks];
    this.pairs = new double[ranks];
    this.decodeMs = new double[ranks];
    this.free = new double[ranks];
    this.ages = new double[ranks];
  }

  /** Starts a batch. A rank that does not tell its work is taken to compute its active tokens. */
  void begin(List<RankState> states) {
    idleMs = 0;
    oldest = 1;
    largestPool = 0;
    for (RankState state : states) {
      int rank = state.rank();
      RankWork work = state.work();
      boolean told = work != null;
      tokens[rank] = told ? work.prefillTokens() : state.activeTokens();
      pairs[rank] = told ? work.attendedPairs() : RankWork.attendedPairs(0, state.activeTokens());
      decodeMs[rank] =
          told && work.decodingRequests() > 0 ? timing.decodeMs(work.decodeKvTokens()) : 0;
      idleMs = Math.max(idleMs, decodeMs[rank]);
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

  /** A request was placed: so many tokens to compute behind so many that are there. */
  void add(int rank, long uncached, long context, long blocks) {
    tokens[rank] += uncached;
    pairs[rank] += RankWork.attendedPairs(context, uncached);
    free[rank] -= blocks;
    clock.advance();
    raisePace(rank);
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

  /** The rank's own time for the prompts that stand in its line. */
  double queuedMs(int rank) {
    return prefillMs(tokens[rank], pairs[rank]);
  }

  /** The rank's own time for a request. */
  double computeMs(long uncached, long context) {
    return prefillMs(uncached, RankWork.attendedPairs(context, uncached));
  }

  private double prefillMs(long prefillTokens, double attendedPairs) {
    long steps = (prefillTokens + maxNumTokens - 1) / maxNumTokens;
    return 2 * timing.prefillQuadratic() * attendedPairs
        + timing.prefillLinear() * prefillTokens
        + timing.prefillConstantMs() * steps;
  }

  /**
   * What lock-step adds to the time until a rank has computed its line and a request behind it:
   * each of its steps takes as long as the longest one, and decoding goes on beside it.
   *
   * @param ownMs the rank's own time for line and request
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
   * The time to compute the cached blocks again that would have to go, less the older they are: 0
   * on the rank whose oldest block nobody has asked for the longest.
   */
  double evictedMs(int rank, long blocks, int tokensPerBlock) {
    double evicted = Math.max(0.0, Math.min((double) blocks, blocks - free[rank]));
    return evicted * tokensPerBlock * timing.prefillLinear() * (1 - ages[rank] / oldest);
  }

  /** Whether some pool is large enough for so many blocks, were it empty. */
  boolean fitsSomePool(long blocks) {
    return blocks <= largestPool;
  }

  /** Requests placed so far. */
  long placed() {
    return clock.now();
  }
}
