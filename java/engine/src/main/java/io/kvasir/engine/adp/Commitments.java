package io.kvasir.engine.adp;

import io.kvasir.model.Digest64;
import it.unimi.dsi.fastutil.longs.Long2LongLinkedOpenHashMap;
import java.util.Arrays;

/**
 * The work that conversations will bring to the ranks that they were placed on, estimated from
 * earlier conversations. Requests whose conversation is unknown do not count.
 *
 * <p>Time is the number of placements, on which all members of a lock-step group agree. Learning
 * from a placement is O(ranks). Not thread-safe.
 */
final class Commitments {

  /** Conversations that are remembered; those unseen for longest are forgotten. */
  private static final int MOST_CONVERSATIONS = 1 << 16;

  /** Further turns of {@link #PRIOR_FIRST_TURNS} conversations, until there are observations. */
  private static final double PRIOR_FURTHER_TURNS = 16;

  private static final double PRIOR_FIRST_TURNS = 8;

  /** Further turns for each first one from which requests without ids count as conversations. */
  private static final double LEAST_FURTHER_TURNS = 0.5;

  /** Placements from a turn of a conversation to its next, until there are observations. */
  private static final double PRIOR_GAP = 64;

  /** Weight of a new gap. */
  private static final double GAP_STEP = 1.0 / 64;

  /** What a placement leaves of the counts before it: averages reach back 4,096 placements. */
  private static final double FADING = 1 - 1.0 / 4096;

  /** Mean gaps in which all but 1/e of the conversations that will not return are given up. */
  private static final double PATIENCE = 4;

  /** Key of a request whose conversation is unknown. */
  private static final long NONE = 0;

  private static final long UNKNOWN = -1;
  private static final int RANK_BITS = 12;

  /** The placement and the rank of each conversation's last turn. */
  private final Long2LongLinkedOpenHashMap lastTurns = new Long2LongLinkedOpenHashMap();

  private final double[] open;
  private double firstTurns = PRIOR_FIRST_TURNS;
  private double furtherTurns = PRIOR_FURTHER_TURNS;

  /** First turns without the prior. */
  private double begun;

  private double timedTurns;
  private double timedMs;
  private double gap = PRIOR_GAP;
  private long now;

  /* The conversation of the considered request: its last turn, and its part of that rank's count. */
  private boolean begins;
  private int ownRank;
  private double ownShare;

  Commitments(int ranks) {
    this.open = new double[ranks];
    lastTurns.defaultReturnValue(UNKNOWN);
  }

  /** The key of a conversation with an id. */
  static long key(String conversationId) {
    long key = Digest64.fold(Digest64.EMPTY, conversationId);
    return key == NONE ? 1 : key;
  }

  private static int rank(long lastTurn) {
    return (int) (lastTurn & (1 << RANK_BITS) - 1);
  }

  /**
   * Looks the conversation of a request up, for the calls below.
   *
   * @param conversation its key
   * @param named whether the request names it; if not, and most requests are alone, this one does
   *     not count as the start of a conversation
   */
  void consider(long conversation, boolean named) {
    long last = conversation == NONE ? UNKNOWN : lastTurns.get(conversation);
    begins =
        conversation != NONE
            && last == UNKNOWN
            && (named || timedTurns > LEAST_FURTHER_TURNS * begun);
    ownRank = last == UNKNOWN ? -1 : rank(last);
    ownShare = last == UNKNOWN ? 0 : share(last);
  }

  /** Whether the considered request begins a conversation, as far as is known. */
  boolean begins() {
    return begins;
  }

  /**
   * Requests that will use a prefix which the first turn of a conversation computes on a rank: this
   * one, further turns, and first turns of other conversations.
   *
   * @param kept placements for which the rank keeps a block that is not used
   */
  double uses(double kept) {
    return 1
        + furtherTurns / firstTurns * (kept / (kept + gap))
        + kept * (firstTurns / (firstTurns + furtherTurns)) / open.length;
  }

  /** The work that a conversation will bring after any of its turns, in modelled milliseconds. */
  double furtherMs() {
    return timedTurns == 0 ? 0 : furtherTurns / firstTurns * (timedMs / timedTurns);
  }

  /** Conversations on a rank that will bring another turn, without the considered request's. */
  double openBeside(int rank) {
    return rank == ownRank ? open[rank] - ownShare : open[rank];
  }

  /** The mean number of conversations on a rank that will bring another turn. */
  double meanOpen() {
    double sum = 0;
    for (double each : open) {
      sum += each;
    }
    return sum / open.length;
  }

  /** What remains of the count that a conversation's last turn added to its rank. */
  private double share(long last) {
    double age = now - (last >>> RANK_BITS);
    return Math.min(open[rank(last)], likelihood() * StrictMath.exp(-age / (PATIENCE * gap)));
  }

  /** The share of turns that another one follows. */
  private double likelihood() {
    return furtherTurns / (firstTurns + furtherTurns);
  }

  /**
   * Learns from a placement.
   *
   * @param conversation the key of the request's conversation
   * @param rank where it was placed
   * @param computeMs the time to compute the request at speed 1, in modelled milliseconds
   */
  void placed(long conversation, int rank, double computeMs) {
    now++;
    double kept = StrictMath.exp(-1 / (PATIENCE * gap));
    for (int i = 0; i < open.length; i++) {
      open[i] *= kept;
    }
    if (conversation == NONE) {
      return;
    }
    long last = lastTurns.get(conversation);
    if (last != UNKNOWN) {
      open[rank(last)] -= share(last);
    }
    firstTurns *= FADING;
    furtherTurns *= FADING;
    begun *= FADING;
    if (last == UNKNOWN) {
      firstTurns++;
      begun++;
    } else {
      furtherTurns++;
      timedTurns = timedTurns * FADING + 1;
      timedMs = timedMs * FADING + computeMs;
      gap += (now - (last >>> RANK_BITS) - gap) * GAP_STEP;
    }
    open[rank] += likelihood();
    lastTurns.putAndMoveToLast(conversation, now << RANK_BITS | rank);
    if (lastTurns.size() > MOST_CONVERSATIONS) {
      lastTurns.removeFirstLong();
    }
  }

  /** A digest of what decisions depend on, except which conversations are remembered. */
  long digest() {
    long digest = Digest64.fold(Digest64.fold(Digest64.EMPTY, now), lastTurns.size());
    digest = Digest64.fold(digest, Double.doubleToLongBits(firstTurns));
    digest = Digest64.fold(digest, Double.doubleToLongBits(begun));
    digest = Digest64.fold(digest, Double.doubleToLongBits(timedMs));
    digest = Digest64.fold(digest, Double.doubleToLongBits(gap));
    return Digest64.fold(digest, Arrays.hashCode(open));
  }
}
