package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.fleet.router.booking.BookingSettings;
import io.kvasir.model.Choice;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The settings of the policies {@code cost} and {@code approximate}, read from args by the names of
 * Dynamo's options. Immutable.
 *
 * @param weights what a candidate costs
 * @param ties which of several ranks with the lowest cost is chosen
 * @param booking loads, thresholds, queue, explanations, index
 */
public record CostSettings(CostOptions weights, Ties ties, BookingSettings booking) {

  /** Key of {@link #ties}. */
  public static final String TIES = "ties";

  private static final String OVERLAP_SCORE_WEIGHT = "kv_overlap_score_weight";
  private static final String PREFILL_LOAD_SCALE = "router_prefill_load_scale";
  private static final String CREDIT = "router_kv_overlap_score_credit";
  private static final String CREDIT_DECAY = "router_kv_overlap_score_credit_decay";
  private static final String ACTIVE_REQUEST_WEIGHT = "active_request_weight";
  private static final String TEMPERATURE = "router_temperature";
  private static final String TRACK_ACTIVE_BLOCKS = "router_track_active_blocks";
  private static final List<String> WEIGHTS =
      List.of(
          OVERLAP_SCORE_WEIGHT,
          CREDIT,
          CREDIT_DECAY,
          PREFILL_LOAD_SCALE,
          ACTIVE_REQUEST_WEIGHT,
          TEMPERATURE,
          TIES,
          TRACK_ACTIVE_BLOCKS);

  /** The keys that policy {@code cost} accepts. */
  static final List<String> COST_KEYS = keysWith(BookingSettings.PREDICTED_TTL);

  private static final double APPROXIMATE_TTL_SECONDS = 120;

  /** The keys that policy {@code approximate} accepts. */
  static final List<String> APPROXIMATE_KEYS = keysWith(BookingSettings.TTL);

  private static List<String> keysWith(String ttl) {
    return Stream.of(WEIGHTS, BookingSettings.KEYS, List.of(ttl)).flatMap(List::stream).toList();
  }

  /**
   * Reads the args of policy {@code cost}.
   *
   * @param user the component that errors name
   * @param args settings as a JSON or YAML parser gives them; a missing or null value is the
   *     default
   * @return the settings
   * @throws IllegalArgumentException naming the key that is unknown or out of range and what is
   *     allowed
   */
  public static CostSettings cost(String user, Map<String, ?> args) {
    RouterArgs checked = new RouterArgs(user, args, COST_KEYS);
    return of(checked, BookingSettings.following(checked));
  }

  /**
   * Reads the args of policy {@code approximate}.
   *
   * @param user the component that errors name
   * @param args settings as a JSON or YAML parser gives them; a missing or null value is the
   *     default
   * @return the settings
   * @throws IllegalArgumentException naming the key that is unknown or out of range and what is
   *     allowed
   */
  static CostSettings approximate(String user, Map<String, ?> args) {
    RouterArgs checked = new RouterArgs(user, args, APPROXIMATE_KEYS);
    return of(checked, BookingSettings.approximate(checked, APPROXIMATE_TTL_SECONDS));
  }

  private static CostSettings of(RouterArgs args, BookingSettings booking) {
    return new CostSettings(
        weights(args),
        Choice.named(TIES, Ties.values(), Ties::id, args.text(TIES, Ties.DRAWN.id())),
        booking);
  }

  private static CostOptions weights(RouterArgs args) {
    if (args.has(OVERLAP_SCORE_WEIGHT) && args.has(PREFILL_LOAD_SCALE)) {
      throw new IllegalArgumentException(
          OVERLAP_SCORE_WEIGHT + " is the older name of " + PREFILL_LOAD_SCALE + "; set one");
    }
    CostOptions defaults = CostOptions.DEFAULT;
    if (args.has(OVERLAP_SCORE_WEIGHT)) {
      defaults = defaults.withOverlapScoreWeight(args.atLeast0(OVERLAP_SCORE_WEIGHT, 0));
    }
    return new CostOptions(
        args.atLeast0(CREDIT, defaults.overlapScoreCredit()),
        args.atLeast0(CREDIT_DECAY, defaults.overlapScoreCreditDecay()),
        args.atLeast0(PREFILL_LOAD_SCALE, defaults.prefillLoadScale()),
        args.atLeast0(ACTIVE_REQUEST_WEIGHT, defaults.activeRequestWeight()),
        args.atLeast0(TEMPERATURE, defaults.temperature()),
        args.flag(TRACK_ACTIVE_BLOCKS, defaults.trackActiveBlocks()));
  }
}
