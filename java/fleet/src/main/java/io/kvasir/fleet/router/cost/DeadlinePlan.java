package io.kvasir.fleet.router.cost;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which waiting requests can meet their deadlines together, and which of them goes next. Immutable
 * but for the requests.
 */
final class DeadlinePlan {

  /*
   * Requests are taken in the order of their deadlines. Where one would be late, the longest of those
   * taken so far is left out, of the lowest class among them: the rule of Moore (1968). On a single
   * rank whose requests are all of one class and wait already, no other choice has fewer late ones.
   *
   * Of those taken, the shortest goes next that makes none of the others late, with a little to spare: requests that arrive
   * later may make others late, and then it is better to have the short ones done.
   *
   * Several ranks count as one of their joint speed, on which a request still takes its own time.
   */

  /** Requests that are looked at; those with later deadlines are not next anyway. */
  private static final int MOST = 1024;

  /**
   * Multiple of its time that the others must be able to wait for a request that overtakes them.
   */
  private static final double SPARE = 1.5;

  private static final Comparator<WaitingRequest> FIRST_LEFT_OUT =
      Comparator.comparingInt((WaitingRequest waiting) -> waiting.request().strictPriority())
          .thenComparing(WaitingRequest::promptMs, Comparator.reverseOrder())
          .thenComparing(Comparator.naturalOrder());

  private final List<WaitingRequest> looked = new ArrayList<>();
  private final Set<WaitingRequest> leftOut = new HashSet<>();
  private final long nowNs;
  private final double speed;
  private final double backlogMs;

  /**
   * Plans. O(n log n) for the first 1,024 requests.
   *
   * @param inOrder the waiting requests: those not given up, in the order of their deadlines, go
   *     before the others
   * @param nowNs the time
   * @param speed milliseconds of computing that the ranks do together in a millisecond, above 0
   * @param backlogMs the time until a rank has computed what is placed on it, on average
   */
  DeadlinePlan(Iterable<WaitingRequest> inOrder, long nowNs, double speed, double backlogMs) {
    this.nowNs = nowNs;
    this.speed = speed;
    this.backlogMs = backlogMs;
    PriorityQueue<WaitingRequest> taken = new PriorityQueue<>(FIRST_LEFT_OUT);
    double beforeMs = backlogMs;
    for (WaitingRequest waiting : inOrder) {
      if (waiting.isBehind() || looked.size() == MOST) {
        break;
      }
      looked.add(waiting);
      taken.add(waiting);
      beforeMs += waiting.promptMs() / speed;
      while (slackMs(waiting, beforeMs - waiting.promptMs() / speed) < 0) {
        WaitingRequest left = taken.remove();
        beforeMs -= left.promptMs() / speed;
        leftOut.add(left);
        if (left.equals(waiting)) {
          break;
        }
      }
    }
  }

  /** The time to spare of a request before which some work is done. */
  private double slackMs(WaitingRequest waiting, double beforeMs) {
    return waiting.leftMs(nowNs) - beforeMs - waiting.promptMs();
  }

  /** The requests that would be late, or make others late. */
  Set<WaitingRequest> leftOut() {
    return leftOut;
  }

  /** The request that goes next among those that satisfy a condition, or null. O(n). */
  @Nullable WaitingRequest next(Predicate<WaitingRequest> condition) {
    WaitingRequest next = null;
    double beforeMs = backlogMs;
    double leastSlackMs = Double.POSITIVE_INFINITY;
    for (WaitingRequest waiting : looked) {
      if (leftOut.contains(waiting)) {
        continue;
      }
      if ((next == null || waiting.promptMs() < next.promptMs())
          && SPARE * waiting.promptMs() / speed <= leastSlackMs
          && condition.test(waiting)) {
        next = waiting;
      }
      leastSlackMs = Math.min(leastSlackMs, slackMs(waiting, beforeMs));
      beforeMs += waiting.promptMs() / speed;
    }
    return next;
  }
}
