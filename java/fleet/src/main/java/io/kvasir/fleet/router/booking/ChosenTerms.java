package io.kvasir.fleet.router.booking;

import java.util.LinkedHashMap;
import java.util.Map;

/** Keeps the terms of one candidate, the chosen one. Not thread-safe. */
public final class ChosenTerms implements CostTrace {

  private final Map<String, Double> terms = new LinkedHashMap<>();

  /** Begins without terms. */
  public ChosenTerms() {}

  @Override
  public void term(int candidate, String name, double value) {
    terms.merge(name, value, Double::sum);
  }

  /** {@return the terms by name, in the selector's order} */
  public Map<String, Double> terms() {
    return terms;
  }
}
