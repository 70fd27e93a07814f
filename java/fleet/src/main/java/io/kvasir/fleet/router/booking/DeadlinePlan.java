package io.kvasir.fleet.router.booking;

import java.util.ArrayList;
import java.util.Arrays;
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
   * Of those taken, the shortest goes next that makes none of the others late, with a little to
   * spare: requests that arrive later may make others late, and then it is better to have the short
   * ones done.
   *
   * On several ranks, a request begins when they have done the work before it together, and takes
   * its own time then.
   */

  /** Requests that are looked at; those with later deadlines are not next anyway. */
  private static final int MOST = 1024;

  /**
   * Multiple of its time that the others must be able to wait for a request that overtakes them.
   */
  private static final double SPARE = 1.5;

  /** Part of a number by which rounding changes it at most. */
  private static final double ROUNDING = 1e-9;

  private static final Comparator<WaitingRequest> FIRST_LEFT_OUT =
      Comparator.comparingInt((WaitingRequest waiting) -> waiting.request().strictPriority())
          .thenComparing(WaitingRequest::promptMs, Comparator.reverseOrder())
          .thenComparing(Comparator.naturalOrder());

  private final List<WaitingRequest> looked = new ArrayList<>();
  private final Set<WaitingRequest> leftOut = new HashSet<>();
  private final long nowNs;
  private final double[] backlogsMs;

  /** The sum of so many of the shortest backlogs. */
  private final double[] freeMs;

  /** The most work with which a request may begin on no more than so many ranks. */
  private final double[] mostMs;

  private final double pace;

  /**
   * Plans. O(ranks log ranks + n (log ranks + log n)) for the first 1,024 requests, unless classes
   * differ.
   *
   * @param inOrder the waiting requests in the order of the queue: those with a deadline first,
   *     then those given up
   * @param nowNs the time
   * @param backlogsMs the time until each rank has computed what is placed on it; at least one rank
   * @param pace milliseconds of computing that a rank does in a millisecond, above 0
   */
  DeadlinePlan(Iterable<WaitingRequest> inOrder, long nowNs, double[] backlogsMs, double pace) {
    this.nowNs = nowNs;
    this.backlogsMs = backlogsMs.clone();
    this.pace = pace;
    Arrays.sort(this.backlogsMs);
    this.freeMs = new double[backlogsMs.length + 1];
    this.mostMs = new double[backlogsMs.length];
    readBacklogs();
    PriorityQueue<WaitingRequest> taken = new PriorityQueue<>(FIRST_LEFT_OUT);
    double beforeMs = 0;
    for (WaitingRequest waiting : inOrder) {
      if (waiting.isBehind() || looked.size() == MOST) {
        break;
      }
      looked.add(waiting);
      taken.add(waiting);
      beforeMs += waiting.promptMs();
      List<WaitingRequest> removed = new ArrayList<>();
      while (slackMs(waiting, beforeMs - waiting.promptMs()) < 0) {
        WaitingRequest left = taken.remove();
        removed.add(left);
        beforeMs -= left.promptMs();
        if (left.equals(waiting)) {
          break;
        }
      }
      if (removed.contains(waiting)) { // the others were left out in vain
        removed.remove(waiting);
        for (WaitingRequest back : removed) {
          taken.add(back);
          beforeMs += back.promptMs();
        }
        leftOut.add(waiting);
      } else {
        leftOut.addAll(removed);
      }
    }
  }

  /*
   * Work B begins when the k ranks with the shortest backlogs b have done it and what is placed on
   * them, at (B + b1 + ... + bk) / k, where k is the first number for which that is not after the
   * next rank gets free. This holds for no k with B > k b(k+1) - (b1 + ... + bk), which grows with
   * k: so the first k that comes into question is found by bisection.
   */

  private void readBacklogs() {
    double most = Double.NEGATIVE_INFINITY;
    for (int ranks = 1; ranks <= backlogsMs.length; ranks++) {
      freeMs[ranks] = freeMs[ranks - 1] + backlogsMs[ranks - 1];
      double next =
          ranks == backlogsMs.length ? Double.POSITIVE_INFINITY : ranks * backlogsMs[ranks];
      most = Math.max(most, next - freeMs[ranks] + ROUNDING * next);
      mostMs[ranks - 1] = most;
    }
  }

  /** When work can begin on some rank, in milliseconds from now, after all work before it. */
  double startMs(double beforeMs) {
    double work = beforeMs / pace;
    int ranks = 1;
    for (int high = mostMs.length; ranks < high; ) {
      int middle = (ranks + high) >>> 1;
      if (work <= mostMs[middle - 1]) {
        high = middle;
      } else {
        ranks = middle + 1;
      }
    }
    for (; ranks < backlogsMs.length; ranks++) {
      double start = (work + freeMs[ranks]) / ranks;
      if (start <= backlogsMs[ranks]) {
        return start;
      }
    }
    return (work + freeMs[ranks]) / ranks;
  }

  /** The time to spare of a request before which some work is done. */
  private double slackMs(WaitingRequest waiting, double beforeMs) {
    return waiting.leftMs(nowNs) - startMs(beforeMs) - waiting.promptMs();
  }

  /** The requests that would be late, or make others late. */
  Set<WaitingRequest> leftOut() {
    return leftOut;
  }

  /** The request that goes next among those that satisfy a condition, or null. O(n). */
  @Nullable WaitingRequest next(Predicate<WaitingRequest> condition) {
    WaitingRequest next = null;
    double speed = pace * backlogsMs.length;
    double beforeMs = 0;
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
      beforeMs += waiting.promptMs();
    }
    return next;
  }
}
