package io.kvasir.fleet.router.projected;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How long the next steps of an engine's ranks take, for one rank without its own part. Reused from
 * one moment to the next; not thread-safe.
 */
final class LongestSteps {

  /*
   * A rank takes the same time for each of its steps, so it counts in all steps before its number of
   * steps. By that number there are the longest time, its rank, and the second longest; going down
   * through the numbers they become those of each step. Without one rank, the longest time is the
   * second one where the longest is its own.
   */

  private final double[] longest = new double[RankForecast.MOST_STEPS + 1];
  private final double[] second = new double[RankForecast.MOST_STEPS + 1];
  private final @Nullable RankForecast[] owner = new RankForecast[RankForecast.MOST_STEPS + 1];
  private int steps;

  /** Reads the queues of some ranks. O(ranks + steps). */
  void read(List<RankForecast> ranks) {
    Arrays.fill(longest, 0, steps + 1, 0);
    Arrays.fill(second, 0, steps + 1, 0);
    Arrays.fill(owner, 0, steps + 1, null);
    steps = 0;
    for (RankForecast rank : ranks) {
      double ms = rank.queueStepMs(0);
      if (ms > 0) {
        int last = rank.queueSteps() - 1;
        steps = Math.max(steps, last + 1);
        add(last, ms, rank);
      }
    }
    for (int step = steps - 2; step >= 0; step--) {
      add(step, longest[step + 1], owner[step + 1]);
      second[step] = Math.max(second[step], second[step + 1]);
    }
  }

  private void add(int step, double ms, @Nullable RankForecast rank) {
    if (ms > longest[step]) {
      second[step] = longest[step];
      longest[step] = ms;
      owner[step] = rank;
    } else {
      second[step] = Math.max(second[step], ms);
    }
  }

  /** The longest time of a step without one rank, in milliseconds; 0 if no other has a prompt. */
  double besideMs(RankForecast rank, int step) {
    if (step >= steps) {
      return 0;
    }
    return owner[step] == rank ? second[step] : longest[step];
  }
}
