package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;

/**
 * Follows the placements of a {@link BookingRouter}, so that a selector can learn from them.
 *
 * <p>All calls run under the router's lock, like those of the selector: they must be quick and must
 * not wait.
 */
public interface PlacementListener {

  /** Ignores all placements. */
  PlacementListener NONE = new PlacementListener() {};

  /**
   * A request has been placed.
   *
   * @param attempt the attempt
   * @param rank its rank
   * @param request the request
   * @param uncachedTokens prompt tokens that the rank has to compute
   * @param contextTokens prompt tokens that it holds, or takes from another worker
   * @param movedTokens prompt tokens that it takes from another worker
   * @param firstTokenMs time to the first token that the selector expects; NaN if it has not
   *     compared ranks or does not predict times
   * @param nowNs the time
   */
  default void onPlaced(
      long attempt,
      RankId rank,
      FleetRequest request,
      int uncachedTokens,
      int contextTokens,
      int movedTokens,
      double firstTokenMs,
      long nowNs) {}

  /**
   * Output tokens of a placed request have streamed.
   *
   * @param attempt the attempt
   * @param tokens number of tokens
   * @param nowNs the time
   */
  default void onTokens(long attempt, int tokens, long nowNs) {}

  /**
   * The prompt of a placed request has been computed.
   *
   * @param attempt the attempt
   * @param nowNs the time
   */
  default void onPrefillDone(long attempt, long nowNs) {}

  /**
   * An attempt has ended, for whatever reason.
   *
   * @param attempt the attempt
   */
  default void onEnded(long attempt) {}

  /**
   * A rank's engine has reported a step.
   *
   * @param rank the rank, which is known
   * @param pass the step
   * @param nowNs the time
   */
  default void onForwardPass(RankId rank, ForwardPass pass, long nowNs) {}

  /**
   * A rank is added, or its capacity has changed.
   *
   * @param rank the rank
   */
  default void onAdded(RankId rank) {}

  /**
   * A rank is removed. Its attempts end after that.
   *
   * @param rank the rank
   */
  default void onRemoved(RankId rank) {}
}
