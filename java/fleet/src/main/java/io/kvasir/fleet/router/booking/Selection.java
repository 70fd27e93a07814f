package io.kvasir.fleet.router.booking;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A selector's choice.
 *
 * @param position the chosen candidate, from 0
 * @param firstTokenMs expected time to its first token, in milliseconds; NaN if the selector does
 *     not predict times
 * @param terms the terms of its cost by name, in the selector's order; empty if it has none
 * @param conversationId the conversation that the request belongs to, made up where it names none;
 *     null if the selector keeps no conversations, or the request belongs to none
 */
public record Selection(
    int position, double firstTokenMs, Map<String, Double> terms, @Nullable String conversationId) {

  /**
   * A choice without a time, terms and a conversation.
   *
   * @param position the chosen candidate, from 0
   * @return the choice
   */
  public static Selection of(int position) {
    return of(position, Map.of());
  }

  /**
   * A choice without a time and a conversation.
   *
   * @param position the chosen candidate, from 0
   * @param terms the terms of its cost by name
   * @return the choice
   */
  public static Selection of(int position, Map<String, Double> terms) {
    return new Selection(position, Double.NaN, terms, null);
  }
}
