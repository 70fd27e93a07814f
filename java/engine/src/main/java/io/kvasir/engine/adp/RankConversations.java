package io.kvasir.engine.adp;

import io.kvasir.model.Digest64;
import io.kvasir.timing.ExpectedTurns;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The conversations of a worker's ranks, and that of the considered request. Requests whose
 * conversation is unknown do not count.
 *
 * <p>Time is the number of placements, on which all members of a lock-step group agree. Learning
 * from a placement is O(ranks). Not thread-safe.
 */
final class RankConversations {

  /** Placements from a turn of a conversation to its next, until there are observations. */
  private static final double PRIOR_GAP = 64;

  private final ExpectedTurns turns = new ExpectedTurns(PRIOR_GAP, 1);
  private final ExpectedTurns.Open[] open;
  private long now;

  /* The conversation of the considered request. */
  private boolean begins;
  private ExpectedTurns.@Nullable Turn last;

  RankConversations(int ranks) {
    this.open =
        Stream.generate(ExpectedTurns.Open::new).limit(ranks).toArray(ExpectedTurns.Open[]::new);
  }

  /**
   * Looks the conversation of a request up, for the calls below.
   *
   * @param conversation its key
   * @param named whether the request names it; if not, and most requests are alone, this one does
   *     not count as the start of a conversation
   */
  void consider(long conversation, boolean named) {
    last = conversation == ExpectedTurns.NONE ? null : turns.last(conversation);
    begins =
        conversation != ExpectedTurns.NONE && last == null && (named || turns.seenToContinue());
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
        + turns.furtherTurns() * (kept / (kept + turns.gap()))
        + kept * turns.firstShare() / open.length;
  }

  /** The work that a conversation will bring after any of its turns, in modelled milliseconds. */
  double furtherMs() {
    return turns.furtherMs();
  }

  /** Conversations on a rank that will bring another turn, without the considered request's. */
  double openBeside(int rank) {
    return turns.count(open[rank], last, now);
  }

  /** The mean number of conversations on a rank that will bring another turn. */
  double meanOpen() {
    double sum = 0;
    for (ExpectedTurns.Open each : open) {
      sum += turns.count(each, null, now);
    }
    return sum / open.length;
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
    for (ExpectedTurns.Open each : open) {
      turns.age(each, now);
    }
    if (conversation == ExpectedTurns.NONE) {
      return;
    }
    ExpectedTurns.Turn before = turns.last(conversation);
    if (before != null) {
      turns.leave(before, now); // by the likelihood before this turn
    }
    turns.placed(conversation, open[rank], computeMs, now);
  }

  /** A digest of what decisions depend on, except which conversations are remembered. */
  long digest() {
    long digest = Digest64.fold(turns.digest(), now);
    for (ExpectedTurns.Open each : open) {
      digest = Digest64.fold(digest, Double.doubleToLongBits(turns.count(each, null, now)));
    }
    return digest;
  }
}
