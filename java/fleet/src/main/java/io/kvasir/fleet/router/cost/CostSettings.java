package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.PredictingIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.load.ActiveSequencesOptions;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.model.Checks;
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
 * @param options loads, thresholds, queue, explanations
 * @param ttlMs time for which a placed prompt counts as held, in milliseconds; 0: it does not
 * @param maxIndexBytes cap on the memory of each prefix index
 */
public record CostSettings(
    CostOptions weights, Ties ties, CostRouterOptions options, long ttlMs, long maxIndexBytes) {

  /** Key of {@link #ties}. */
  public static final String TIES = "ties";

  /** Key of {@link #maxIndexBytes}. */
  public static final String MAX_INDEX_BYTES = "max_index_bytes";

  /** Key of {@link CostRouterOptions#explain}. */
  static final String EXPLAIN = "explain";

  /** Key of {@link #ttlMs}, in seconds, beside block events. */
  static final String PREDICTED_TTL = "router_predicted_ttl_secs";

  /** Key of {@link #ttlMs}, in seconds, without block events. */
  static final String TTL = "router_ttl_secs";

  private static final String OVERLAP_SCORE_WEIGHT = "kv_overlap_score_weight";
  private static final String PREFILL_LOAD_SCALE = "router_prefill_load_scale";
  private static final String CREDIT = "router_kv_overlap_score_credit";
  private static final String CREDIT_DECAY = "router_kv_overlap_score_credit_decay";
  private static final String ACTIVE_REQUEST_WEIGHT = "active_request_weight";
  private static final String TEMPERATURE = "router_temperature";
  private static final String TRACK_ACTIVE_BLOCKS = "router_track_active_blocks";
  private static final String ASSUME_KV_REUSE = "router_assume_kv_reuse";
  private static final String TRACK_OUTPUT_BLOCKS = "router_track_output_blocks";
  private static final String TRACK_PREFILL_TOKENS = "router_track_prefill_tokens";
  private static final String DECODE_THRESHOLD = "active_decode_blocks_threshold";
  private static final String PREFILL_THRESHOLD = "active_prefill_tokens_threshold";
  private static final String PREFILL_THRESHOLD_FRAC = "active_prefill_tokens_threshold_frac";
  private static final String QUEUE_THRESHOLD = "router_queue_threshold";
  private static final String QUEUE_POLICY = "router_queue_policy";
  private static final String MAX_QUEUED_REQUESTS = "max_queued_requests";
  private static final String MAX_QUEUED_TOKENS = "max_queued_tokens";
  private static final String REFRESH_AFTER = "router_overlap_refresh_after_secs";

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

  private static final List<String> LOAD_KEYS =
      List.of(
          ASSUME_KV_REUSE,
          TRACK_OUTPUT_BLOCKS,
          TRACK_PREFILL_TOKENS,
          DECODE_THRESHOLD,
          PREFILL_THRESHOLD,
          PREFILL_THRESHOLD_FRAC,
          QUEUE_THRESHOLD,
          QUEUE_POLICY,
          MAX_QUEUED_REQUESTS,
          MAX_QUEUED_TOKENS,
          REFRESH_AFTER,
          MAX_INDEX_BYTES,
          EXPLAIN);

  private static final double MS_PER_SECOND = 1e3;
  private static final double NS_PER_SECOND = 1e9;
  private static final double MAX_SECONDS = 1e9;
  private static final double MIN_TTL_SECONDS = 1e-3;
  private static final double PREDICTED_TTL_SECONDS = 2;
  private static final double TTL_SECONDS = 120;
  private static final long DEFAULT_MAX_INDEX_BYTES = 1L << 32;
  private static final long MIN_INDEX_BYTES = 1 << 20;

  /** The keys that policy {@code cost} accepts. */
  static final List<String> COST_KEYS = keysWith(PREDICTED_TTL);

  /** The keys that policy {@code approximate} accepts. */
  static final List<String> APPROXIMATE_KEYS = keysWith(TTL);

  /** The keys that policy {@code projected} accepts: those of {@code cost} except its weights. */
  public static final List<String> PROJECTED_KEYS = joined(LOAD_KEYS, List.of(PREDICTED_TTL));

  private static List<String> keysWith(String ttl) {
    return joined(joined(WEIGHTS, LOAD_KEYS), List.of(ttl));
  }

  private static List<String> joined(List<String> keys, List<String> others) {
    return Stream.concat(keys.stream(), others.stream()).toList();
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
    return following(new RouterArgs(user, args, COST_KEYS));
  }

  /**
   * Reads the args of policy {@code projected}.
   *
   * @param user the component that errors name
   * @param args settings as a JSON or YAML parser gives them; a missing or null value is the
   *     default
   * @return the settings
   * @throws IllegalArgumentException naming the key that is unknown or out of range and what is
   *     allowed
   */
  public static CostSettings projected(String user, Map<String, ?> args) {
    return following(new RouterArgs(user, args, PROJECTED_KEYS));
  }

  private static CostSettings following(RouterArgs checked) {
    double seconds = checked.number(PREDICTED_TTL, PREDICTED_TTL_SECONDS);
    if (seconds != 0) {
      Checks.within(PREDICTED_TTL, seconds, MIN_TTL_SECONDS, MAX_SECONDS);
    }
    return of(checked, seconds);
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
    double seconds = checked.number(TTL, TTL_SECONDS);
    Checks.within(TTL, seconds, MIN_TTL_SECONDS, MAX_SECONDS);
    return of(checked, seconds);
  }

  private static CostSettings of(RouterArgs args, double ttlSeconds) {
    return new CostSettings(
        weights(args),
        Choice.named(TIES, Ties.values(), Ties::id, args.text(TIES, Ties.DRAWN.id())),
        new CostRouterOptions(loads(args), busy(args), queue(args), args.flag(EXPLAIN, false)),
        Math.round(ttlSeconds * MS_PER_SECOND),
        maxIndexBytes(args));
  }

  /**
   * Makes an index of what ranks hold by their block events, and by placements until those arrive.
   *
   * @param setup how blocks are named, their size, and the clock
   * @return the index; the caller closes it
   */
  public PrefixIndex index(FleetRouterSetup setup) {
    PrefixIndex followed = CostRouterProvider.index(this, setup);
    return ttlMs > 0
        ? new PredictingIndex(followed, CostRouterProvider.approximateIndex(this, setup))
        : followed;
  }

  /** The cap on the memory of a prefix index. */
  static long maxIndexBytes(RouterArgs args) {
    return args.longInteger(MAX_INDEX_BYTES, MIN_INDEX_BYTES, DEFAULT_MAX_INDEX_BYTES);
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

  private static ActiveSequencesOptions loads(RouterArgs args) {
    ActiveSequencesOptions defaults = ActiveSequencesOptions.DEFAULT;
    return defaults
        .withKvReuse(args.flag(ASSUME_KV_REUSE, defaults.assumeKvReuse()))
        .withOutputBlocks(args.flag(TRACK_OUTPUT_BLOCKS, true))
        .withPrefillTokens(args.flag(TRACK_PREFILL_TOKENS, defaults.trackPrefillTokens()));
  }

  private static BusyThresholds busy(RouterArgs args) {
    Double decode = args.atLeast0(DECODE_THRESHOLD);
    if (decode != null) {
      Checks.within(DECODE_THRESHOLD, decode, 0, 1);
    }
    return new BusyThresholds(
        decode, args.longInteger(PREFILL_THRESHOLD, 0), args.atLeast0(PREFILL_THRESHOLD_FRAC));
  }

  private static QueueOptions queue(RouterArgs args) {
    QueueOptions defaults = QueueOptions.OFF;
    double refreshSeconds =
        args.atLeast0(REFRESH_AFTER, defaults.matchRefreshAfterNs() / NS_PER_SECOND);
    Checks.within(REFRESH_AFTER, refreshSeconds, 0, MAX_SECONDS);
    int maxRequests = args.integer(MAX_QUEUED_REQUESTS, defaults.maxQueuedRequests());
    Checks.atLeast(MAX_QUEUED_REQUESTS, maxRequests, 1);
    QueuePolicy policy =
        Choice.named(
            QUEUE_POLICY,
            QueuePolicy.values(),
            QueuePolicy::id,
            args.text(QUEUE_POLICY, defaults.queuePolicy().id()));
    Double threshold = args.atLeast0(QUEUE_THRESHOLD);
    return new QueueOptions(
        threshold == null && policy == QueuePolicy.EDF ? Double.valueOf(0) : threshold,
        policy,
        maxRequests,
        args.longInteger(MAX_QUEUED_TOKENS, 1, defaults.maxQueuedTokens()),
        Math.round(refreshSeconds * NS_PER_SECOND));
  }
}
