package io.kvasir.timing;

import io.kvasir.model.Digest64;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The work that conversations will bring to the ranks that they were placed on, estimated from
 * earlier conversations.
 *
 * <p>Time is what the caller counts: nanoseconds, or placements, on which all members of a
 * lock-step group agree. Equal histories of calls give bit-identical estimates. Not thread-safe.
 */
public final class ExpectedTurns {

  /** Key of a request that belongs to no conversation. */
  public static final long NONE = 0;

  /** Conversations that are remembered; those unseen for longest are forgotten. */
  public static final int MOST_CONVERSATIONS = 1 << 16;

  /* Further turns of some first turns, until there are observations. */
  private static final double PRIOR_FURTHER_TURNS = 16;
  private static final double PRIOR_FIRST_TURNS = 8;

  /** Further turns for each first one from which conversations are known to go on. */
  private static final double LEAST_FURTHER_TURNS = 0.5;

  /** Further turns that count at most: a conversation that goes on for longer may still move. */
  private static final double MOST_FURTHER_TURNS = 64;

  /** Weight of a new gap. */
  private static final double STEP = 1.0 / 64;

  /** Part of the counts that a turn leaves of those before it: averages reach back 4,096 turns. */
  private static final double FADING = 1 - 1.0 / 4096;

  /** Mean gaps in which all but 1/e of the conversations that will not return are given up. */
  private static final double PATIENCE = 4;

  private final Long2ObjectLinkedOpenHashMap<Turn> lastTurns = new Long2ObjectLinkedOpenHashMap<>();
  private final double othersInGap;

  private double firstTurns = PRIOR_FIRST_TURNS;
  private double furtherTurns = PRIOR_FURTHER_TURNS;

  /** First turns without the prior. */
  private double begun;

  private double timedTurns;
  private double timedMs;
  private double gap;
  private long placements;

  private double keptGaps;
  private double kept = 1;

  /** The last turn of a conversation. */
  public static final class Turn {
    private final Open open;
    private final long at;

    /** The number of its placement. */
    private final long placement;

    /** Whether it still counts on its rank. */
    private boolean counts = true;

    private Turn(Open open, long at, long placement) {
      this.open = open;
      this.at = at;
      this.placement = placement;
    }

    /**
     * {@return whether it was placed on a rank}
     *
     * @param rank the conversations of the rank
     */
    public boolean isOn(Open rank) {
      return open == rank;
    }
  }

  /** The expected number of conversations of one rank that will bring another turn. */
  public static final class Open {
    private double count;
    private long at;

    /** Makes a rank without conversations. */
    public Open() {}
  }

  /**
   * Begins without observations.
   *
   * @param priorGap time from a turn to the next, until there are observations
   * @param othersInGap placements in a gap that give it its full weight, at least 1. Quick turns of
   *     one client, such as parallel calls of tools, then do not make the conversations of all
   *     others look given up
   */
  public ExpectedTurns(double priorGap, double othersInGap) {
    this.gap = priorGap;
    this.othersInGap = othersInGap;
  }

  /**
   * {@return the key of a conversation with an id}
   *
   * @param conversationId the id
   */
  public static long key(String conversationId) {
    long key = Digest64.fold(Digest64.EMPTY, conversationId);
    return key == NONE ? 1 : key;
  }

  /**
   * {@return the last turn of a conversation; null if it has none that is remembered}
   *
   * @param key its key
   */
  public @Nullable Turn last(long key) {
    return lastTurns.get(key);
  }

  /** {@return the expected number of further turns for each first one, at most 64} */
  public double furtherTurns() {
    return Math.min(MOST_FURTHER_TURNS, furtherTurns / firstTurns);
  }

  /** {@return the share of turns that are the first of their conversation} */
  public double firstShare() {
    return firstTurns / (firstTurns + furtherTurns);
  }

  /** {@return the mean time from a turn to the next} */
  public double gap() {
    return gap;
  }

  /** {@return whether a third of the observed turns or more continued a conversation} */
  public boolean seenToContinue() {
    return timedTurns > LEAST_FURTHER_TURNS * begun;
  }

  /** {@return the work that a conversation will bring after any of its turns, in milliseconds} */
  public double furtherMs() {
    return timedTurns == 0 ? 0 : furtherTurns() * (timedMs / timedTurns);
  }

  /**
   * Ages the count of a rank.
   *
   * @param open the rank's conversations
   * @param now the time
   */
  public void age(Open open, long now) {
    if (open.at != now) {
      if (open.count > 0) {
        open.count *= kept(open.at, now);
      }
      open.at = now;
    }
  }

  /**
   * {@return the expected number of conversations on a rank that will bring another turn}
   *
   * @param open the rank's conversations
   * @param without the last turn of a conversation that does not count; null for none
   * @param now the time
   */
  public double count(Open open, @Nullable Turn without, long now) {
    age(open, now);
    return without == null || without.open != open
        ? open.count
        : Math.max(0, open.count - share(without, now));
  }

  /** The share of turns that another one follows. */
  private double likelihood() {
    return furtherTurns / (firstTurns + furtherTurns);
  }

  /** The part of a count that is left. Ranks are aged together, so most times are the last one. */
  private double kept(long since, long now) {
    double gaps = (now - since) / (PATIENCE * gap);
    if (gaps != keptGaps) {
      keptGaps = gaps;
      kept = StrictMath.exp(-gaps);
    }
    return kept;
  }

  /** What a conversation's last turn adds to the count of its rank. */
  private double share(Turn last, long now) {
    return likelihood() * kept(last.at, now);
  }

  /**
   * The last turn of a conversation no longer counts on its rank.
   *
   * @param last the turn
   * @param now the time
   */
  public void leave(Turn last, long now) {
    if (last.counts) {
      last.counts = false;
      last.open.count = count(last.open, last, now);
    }
  }

  private void learnGap(Turn last, long now) {
    double weight = Math.min(1, (placements - last.placement) / othersInGap);
    gap += (now - last.at - gap) * STEP * weight;
  }

  /**
   * Learns from a placement. The turn counts on its rank in place of the one before.
   *
   * @param key the conversation's key, not {@link #NONE}
   * @param open the conversations of the rank
   * @param computeMs the time to compute the request, in milliseconds
   * @param now the time
   */
  public void placed(long key, Open open, double computeMs, long now) {
    placements++;
    Turn last = lastTurns.get(key);
    firstTurns *= FADING;
    furtherTurns *= FADING;
    begun *= FADING;
    if (last == null) {
      firstTurns++;
      begun++;
    } else {
      leave(last, now);
      furtherTurns++;
      timedTurns = timedTurns * FADING + 1;
      timedMs = timedMs * FADING + computeMs;
      learnGap(last, now);
    }
    age(open, now);
    open.count += likelihood();
    lastTurns.putAndMoveToLast(key, new Turn(open, now, placements));
    if (lastTurns.size() > MOST_CONVERSATIONS) {
      lastTurns.removeFirst();
    }
  }

  /** {@return a digest of what was learned, except which conversations are remembered} */
  public long digest() {
    long digest = Digest64.fold(Digest64.EMPTY, lastTurns.size());
    digest = Digest64.fold(digest, Double.doubleToLongBits(firstTurns));
    digest = Digest64.fold(digest, Double.doubleToLongBits(begun));
    digest = Digest64.fold(digest, Double.doubleToLongBits(timedMs));
    return Digest64.fold(digest, Double.doubleToLongBits(gap));
  }
}
