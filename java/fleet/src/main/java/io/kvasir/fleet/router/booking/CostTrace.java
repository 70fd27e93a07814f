package io.kvasir.fleet.router.booking;

/**
 * Receives the costs that a selector compares. Confined to the calling thread.
 *
 * <p>A candidate's cost is the sum of its terms. Selectors may always call it: where no explanation
 * was asked for, it does nothing.
 */
@FunctionalInterface
public interface CostTrace {

  /** Ignores all terms. */
  CostTrace NONE = (candidate, name, value) -> {};

  /**
   * Adds one term to the cost of a candidate.
   *
   * @param candidate the candidate's position
   * @param name the term's name, for example {@code prefill}
   * @param value what it adds to the cost; lower costs are better
   */
  void term(int candidate, String name, double value);

  /**
   * Gives the expected time to first token of a candidate.
   *
   * @param candidate the candidate's position
   * @param expectedMs the time, in milliseconds
   * @param lowMs lower end of its interval
   * @param highMs upper end of its interval
   * @param likelihood how likely the request is to meet its targets there, 0 to 1
   */
  default void firstToken(
      int candidate, double expectedMs, double lowMs, double highMs, double likelihood) {}
}
