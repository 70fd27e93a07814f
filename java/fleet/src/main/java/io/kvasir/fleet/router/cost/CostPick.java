package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.booking.Candidates;
import java.util.Arrays;

/**
 * Picks one of several candidates by their costs; lower is better.
 *
 * <p>The draw depends on the request's id and the costs alone, so it is the same in every process
 * and at every repetition. Not thread-safe; for one decision.
 */
public final class CostPick {

  private final double[] costs;
  private final long requestId;
  private int size;

  /**
   * Makes a pick for one request.
   *
   * @param candidates number of candidates, at least 1
   * @param requestId the request's id, the seed
   */
  public CostPick(int candidates, long requestId) {
    this.costs = new double[candidates];
    this.requestId = requestId;
  }

  /**
   * Adds the next candidate.
   *
   * @param cost its cost, finite
   */
  public void add(double cost) {
    costs[size++] = cost;
  }

  /**
   * A candidate of the lowest cost; equals are equally likely. O(candidates).
   *
   * @return its position in the order of additions
   */
  public int lowest() {
    double lowest = lowestCost();
    int equals = 0;
    for (int i = 0; i < size; i++) {
      equals += costs[i] == lowest ? 1 : 0;
    }
    int skip = (int) (uniform() * equals);
    int i = 0;
    while (costs[i] != lowest || skip-- > 0) {
      i++;
    }
    return i;
  }

  /**
   * A candidate of the lowest cost; of equals the one that was chosen least recently, and of those
   * that were never chosen one at random. O(candidates).
   *
   * @param candidates when each was chosen last
   * @return its position in the order of additions
   */
  int lowestInTurn(Candidates candidates) {
    double lowest = lowestCost();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < size; i++) {
      if (costs[i] == lowest) {
        least = Math.min(least, candidates.lastChosen(i));
      }
    }
    for (int i = 0; i < size; i++) {
      if (candidates.lastChosen(i) != least) {
        costs[i] = Double.POSITIVE_INFINITY;
      }
    }
    return lowest();
  }

  /**
   * A candidate drawn with probability proportional to {@code exp(-(cost - lowest) / ((highest -
   * lowest) x temperature))}: scaled by the costs' range, temperature 1 prefers the best to the
   * worst by e : 1 whatever their distance. O(candidates).
   *
   * @param temperature above 0; higher values even out the probabilities
   * @return its position in the order of additions
   */
  public int softmax(double temperature) {
    double lowest = lowestCost();
    double range = Arrays.stream(costs, 0, size).max().orElse(lowest) - lowest;
    double[] cumulated = new double[size];
    double sum = 0;
    for (int i = 0; i < size; i++) {
      sum += range == 0 ? 1 : Math.exp(-(costs[i] - lowest) / range / temperature);
      cumulated[i] = sum;
    }
    double drawn = uniform() * sum;
    int i = 0;
    while (i < size - 1 && drawn >= cumulated[i]) {
      i++;
    }
    return i;
  }

  private double lowestCost() {
    double lowest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      lowest = Math.min(lowest, costs[i]);
    }
    return lowest;
  }

  /**
   * A number that looks uniform in [0, 1): the request's id, scrambled by the output function of
   * SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
   */
  private double uniform() {
    long z = requestId + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return ((z ^ (z >>> 31)) >>> 11) * 0x1.0p-53;
  }
}
