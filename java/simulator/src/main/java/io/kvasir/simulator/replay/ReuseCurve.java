package io.kvasir.simulator.replay;

import java.util.List;

/**
 * The token hit rate of one pool that all ranks would share, by its size: requests are served one
 * at a time in the order of their arrival, and blocks are evicted by least recent use, the ends of
 * sequences first. Space for running requests is not counted, and requests that the replay rejected
 * are served too.
 *
 * <p>Immutable.
 *
 * @param points sizes in ascending order
 */
public record ReuseCurve(List<Point> points) {

  /**
   * A size of the pool.
   *
   * @param tokens tokens that it holds
   * @param hitRate share of the prompt tokens that it would serve from cache, 0 to 1
   */
  public record Point(long tokens, double hitRate) {}

  /** Copies the list. */
  public ReuseCurve {
    points = List.copyOf(points);
  }
}
