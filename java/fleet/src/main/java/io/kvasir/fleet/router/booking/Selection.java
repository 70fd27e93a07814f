package io.kvasir.fleet.router.booking;

import java.util.Map;

/**
 * A selector's choice.
 *
 * @param position the chosen candidate, from 0
 * @param firstTokenMs expected time to its first token, in milliseconds; NaN if the selector does
 *     not predict times
 * @param terms the terms of its cost by name, in the selector's order; empty if it has none
 */
public record Selection(int position, double firstTokenMs, Map<String, Double> terms) {

  /**
   * A choice without a time and terms.
   *
   * @param position the chosen candidate, from 0
   * @return the choice
   */
  public static Selection of(int position) {
    return of(position, Map.of());
  }

  /**
   * A choice without a time.
   *
   * @param position the chosen candidate, from 0
   * @param terms the terms of its cost by name
   * @return the choice
   */
  public static Selection of(int position, Map<String, Double> terms) {
    return new Selection(position, Double.NaN, terms);
  }
}
