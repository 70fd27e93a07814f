package io.kvasir.engine.adp;

import java.util.Map;
import java.util.TreeMap;

/** How long requests are left over, and how soon others end, by the times of steps. */
final class OracleWaits {

  private static final int MOST_CALLS = 1000;
  private static final int MOST_ENDED = 1024;

  private final Map<Long, Double> leftSince = new TreeMap<>();
  private long headId;
  private int headCalls;
  private boolean headWaits;
  private int impatient;
  private double clock;
  private double counted;
  private long activeBefore;
  private double spent;
  private double ended;

  /** How often the head of a queue was placed because it had been left over too often. */
  int impatient() {
    return impatient;
  }

  /** Whether the last batch left its first leftover over for want of room. */
  boolean headWaits() {
    return headWaits;
  }

  /** A step has taken so long. */
  void stepped(double ms) {
    clock += ms;
  }

  /** Counts what has ended since the last batch, and the time that requests have spent. */
  void beginBatch(long active) {
    headWaits = false;
    spent += (clock - counted) * (activeBefore + active) / 2;
    counted = clock;
    ended += Math.max(0, activeBefore - active);
    if (ended > MOST_ENDED) {
      spent *= MOST_ENDED / ended;
      ended = MOST_ENDED;
    }
  }

  void endBatch(long active, boolean someLeftOver) {
    activeBefore = active;
    if (!someLeftOver) {
      headCalls = 0;
    }
  }

  /** The time until so large a part of a rank's requests has ended. */
  double untilEnded(double part) {
    return ended == 0 || spent == 0 ? Double.POSITIVE_INFINITY : part * spent / ended;
  }

  /** Leaves a request over; false if it must be placed. Only the first has a limit on its calls. */
  boolean leaveOver(long id, boolean first) {
    if (first) {
      headWaits = true;
      headCalls = headId == id ? headCalls + 1 : 1;
      headId = id;
      if (headCalls > MOST_CALLS) {
        impatient++;
        return false;
      }
    }
    leftSince.putIfAbsent(id, clock);
    return true;
  }

  double waited(long id) {
    Double since = leftSince.get(id);
    return since == null ? 0 : clock - since;
  }

  void onPlaced(long id) {
    leftSince.remove(id);
  }
}
