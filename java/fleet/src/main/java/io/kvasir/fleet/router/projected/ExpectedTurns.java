package io.kvasir.fleet.router.projected;

import io.kvasir.hash.ContinuedPrompts;
import io.kvasir.model.Digest64;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The work that conversations will bring to the ranks that they were placed on, estimated from
 * earlier conversations.
 *
 * <p>A request without a conversation id is recognised by its prompt, unless that is shorter than a
 * block.
 *
 * <p>Not thread-safe.
 */
final class ExpectedTurns {

  /** Conversations that are remembered; those unseen for longest are forgotten. */
  private static final int MOST = 1 << 16;

  /* Until there are observations: further turns of some first turns, and the time between turns. */
  private static final double PRIOR_FURTHER_TURNS = 16;
  private static final double PRIOR_FIRST_TURNS = 8;
  private static final double PRIOR_GAP_NS = 10e9;

  /** Weight of a new gap. */
  private static final double STEP = 1.0 / 64;

  /** Placements in a gap that give it its full weight. */
  private static final double OTHERS = 16;

  /** What a request leaves of the counts before it. */
  private static final double FADING = 1 - 1.0 / 4096;

  /** Mean gaps in which all but 1/e of the conversations that will not return are given up. */
  private static final double PATIENCE = 4;

  /** Key of a request that belongs to no conversation. */
  static final long NONE = ContinuedPrompts.NONE;

  private final Long2ObjectLinkedOpenHashMap<Turn> lastTurns = new Long2ObjectLinkedOpenHashMap<>();

  private final ContinuedPrompts prompts = new ContinuedPrompts(MOST);

  private double firstTurns = PRIOR_FIRST_TURNS;
  private double furtherTurns = PRIOR_FURTHER_TURNS;
  private double timedTurns;
  private double timedMs;
  private double gapNs = PRIOR_GAP_NS;
  private long placements;

  private double keptGaps;
  private double kept = 1;

  /** The last turn of a conversation. */
  static final class Turn {
    private final Open open;
    private final long atNs;

    /** The number of its placement. */
    private final long placement;

    Turn(Open open, long atNs, long placement) {
      this.open = open;
      this.atNs = atNs;
      this.placement = placement;
    }
  }

  /** The expected number of conversations of one rank that will bring another turn. */
  static final class Open {
    private double count;
    private long atNs;
  }

  /**
   * The conversation of a request. O(1) with an id, else O(blocks of a turn).
   *
   * @param conversationId its id, or null
   * @param begins whether the prompt cannot continue a conversation
   * @param hashes sequence hashes of the prompt's full blocks
   * @return its key; {@link #NONE} for none
   */
  long key(@Nullable String conversationId, boolean begins, long[] hashes) {
    if (conversationId == null) {
      return begins ? prompts.newKey(hashes) : prompts.key(hashes);
    }
    long key = Digest64.fold(Digest64.EMPTY, conversationId);
    return key == NONE ? 1 : key;
  }

  /**
   * What is left after a time. Ranks are aged together, so most times are that of the last call.
   */
  private double kept(long sinceNs, long nowNs) {
    double gaps = (nowNs - sinceNs) / (PATIENCE * gapNs);
    if (gaps != keptGaps) {
      keptGaps = gaps;
      kept = StrictMath.exp(-gaps);
    }
    return kept;
  }

  /** The share of turns that another one follows. */
  private double likelihood() {
    return furtherTurns / (firstTurns + furtherTurns);
  }

  private void age(Open open, long nowNs) {
    if (open.count > 0) {
      open.count *= kept(open.atNs, nowNs);
    }
    open.atNs = nowNs;
  }

  /** The last turn of a conversation, or null. */
  @Nullable Turn last(long key) {
    return lastTurns.get(key);
  }

  /** What a conversation's last turn adds to its rank's expected number, once the rank is aged. */
  private double share(Turn last, long nowNs) {
    age(last.open, nowNs);
    return likelihood() * kept(last.atNs, nowNs);
  }

  /** Conversations on a rank that will bring another turn, without one of them. */
  double count(Open open, @Nullable Turn without, long nowNs) {
    age(open, nowNs);
    return without == null || without.open != open
        ? open.count
        : Math.max(0, open.count - share(without, nowNs));
  }

  /** The work that a conversation will bring after any of its turns, in milliseconds. */
  double furtherMs() {
    return timedTurns == 0 ? 0 : furtherTurns / firstTurns * (timedMs / timedTurns);
  }

  /**
   * A gap counts in full if requests of others came in it, so that quick turns of one client, such
   * as parallel calls of tools, do not make the conversations of all others look given up.
   */
  private void learnGap(Turn last, long nowNs) {
    double weight = Math.min(1, (placements - last.placement) / OTHERS);
    gapNs += (nowNs - last.atNs - gapNs) * STEP * weight;
  }

  /**
   * Learns from a placement.
   *
   * @param conversationId the request's, or null
   * @param begins whether its prompt cannot continue a conversation
   * @param hashes sequence hashes of its full blocks
   * @param open the conversations of its rank
   * @param ms the time to compute it, in milliseconds
   * @param nowNs the time
   */
  void placed(
      @Nullable String conversationId,
      boolean begins,
      long[] hashes,
      Open open,
      double ms,
      long nowNs) {
    long key = key(conversationId, begins, hashes);
    if (key == NONE) {
      return;
    }
    placements++;
    Turn last = lastTurns.get(key);
    firstTurns *= FADING;
    furtherTurns *= FADING;
    if (last == null) {
      firstTurns++;
    } else {
      last.open.count = Math.max(0, last.open.count - share(last, nowNs));
      furtherTurns++;
      timedTurns = timedTurns * FADING + 1;
      timedMs = timedMs * FADING + ms;
      learnGap(last, nowNs);
    }
    age(open, nowNs);
    open.count += likelihood();
    if (conversationId == null) {
      prompts.placed(key, hashes);
    }
    lastTurns.putAndMoveToLast(key, new Turn(open, nowNs, placements));
    if (lastTurns.size() > MOST) {
      lastTurns.removeFirst();
    }
  }
}
