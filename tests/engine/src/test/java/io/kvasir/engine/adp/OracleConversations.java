package io.kvasir.engine.adp;

import java.util.Map;
import java.util.TreeMap;

/** How conversations go on, as {@link ProjectedOracle} learns it from its placements. */
final class OracleConversations {

  /** Where and when a conversation's last turn was placed. */
  private record LastTurn(int rank, long placed) {}

  private final int ranks;
  private final Map<String, LastTurn> lastTurns = new TreeMap<>();
  private final double[] open;
  private double firstTurns = 8;
  private double furtherTurns = 16;
  private double begun;
  private double timedTurns;
  private double timedMs;
  private double gap = 64;

  OracleConversations(int ranks) {
    this.ranks = ranks;
    this.open = new double[ranks];
  }

  /** Conversations of a rank that are expected to go on, but for one. */
  double openBeside(String conversation, int rank, long placed) {
    LastTurn last = conversation == null ? null : lastTurns.get(conversation);
    return last == null || last.rank() != rank ? open[rank] : open[rank] - share(last, placed);
  }

  private double share(LastTurn last, long placed) {
    double likely = furtherTurns / (firstTurns + furtherTurns);
    double left = likely * StrictMath.exp(-(double) (placed - last.placed()) / (4 * gap));
    return Math.min(open[last.rank()], left);
  }

  /** Conversations of an average rank that are expected to go on. */
  double openOnAverage() {
    double sum = 0;
    for (double each : open) {
      sum += each;
    }
    return sum / ranks;
  }

  private double furtherPerFirst() {
    return Math.min(64, furtherTurns / firstTurns);
  }

  /** The time of the further turns that are expected of a conversation. */
  double furtherMs() {
    return timedTurns == 0 ? 0 : furtherPerFirst() * (timedMs / timedTurns);
  }

  /** Whether a conversation begins; those without an id count where conversations often go on. */
  boolean begins(String conversation, boolean named) {
    return conversation != null
        && !lastTurns.containsKey(conversation)
        && (named || timedTurns > 0.5 * begun);
  }

  /** How many requests share a copy of a prompt that is kept for so many placements. */
  double sharers(double kept) {
    return 1
        + furtherPerFirst() * (kept / (kept + gap))
        + kept * (firstTurns / (firstTurns + furtherTurns)) / ranks;
  }

  /** Learns from a placement; {@code placed} are those until now, with it. */
  void learn(String conversation, int rank, double computeMs, long placed) {
    double kept = StrictMath.exp(-1 / (4 * gap));
    for (int i = 0; i < ranks; i++) {
      open[i] *= kept;
    }
    if (conversation == null) {
      return;
    }
    LastTurn last = lastTurns.get(conversation);
    if (last != null) {
      open[last.rank()] -= share(last, placed);
    }
    double fading = 1 - 1.0 / 4096;
    firstTurns *= fading;
    begun *= fading;
    furtherTurns *= fading;
    if (last == null) {
      firstTurns++;
      begun++;
    } else {
      furtherTurns++;
      timedTurns = timedTurns * fading + 1;
      timedMs = timedMs * fading + computeMs;
      gap += (placed - last.placed() - gap) * (1.0 / 64);
    }
    open[rank] += furtherTurns / (firstTurns + furtherTurns);
    lastTurns.put(conversation, new LastTurn(rank, placed));
  }
}
