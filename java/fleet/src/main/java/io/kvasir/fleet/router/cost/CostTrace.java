package io.kvasir.fleet.router.cost;

/**
 * Where a selector says what it compared. Confined to the calling thread.
 *
 * <p>A candidate's cost is the sum of its terms. Selectors may call it always: if nobody asked, it
 * does nothing.
 */
@FunctionalInterface
public interface CostTrace {

  /** Of decisions that nobody wants explained. */
  CostTrace NONE = (candidate, name, value) -> {};

  /**
   * Adds one term to the cost of a candidate.
   *
   * @param candidate which candidate
   * @param name the term's name, for example {@code prefill}
   * @param value what it adds to the cost; lower costs are better
   */
  void term(int candidate, String name, double value);
}
