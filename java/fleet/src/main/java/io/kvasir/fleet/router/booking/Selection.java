package io.kvasir.fleet.router.booking;

/**
 * A selector's choice.
 *
 * @param position the chosen candidate, from 0
 * @param firstTokenMs expected time to its first token, in milliseconds; NaN if the selector does
 *     not predict times
 */
public record Selection(int position, double firstTokenMs) {

  /**
   * A choice without a time.
   *
   * @param position the chosen candidate, from 0
   * @return the choice
   */
  public static Selection of(int position) {
    return new Selection(position, Double.NaN);
  }
}
