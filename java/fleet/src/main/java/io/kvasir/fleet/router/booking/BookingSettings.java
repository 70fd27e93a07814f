package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.index.ApproximateIndex;
import io.kvasir.fleet.index.ApproximateOptions;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.PredictingIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.load.ActiveSequencesOptions;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.model.Checks;
import io.kvasir.model.Choice;
import java.util.List;

/**
 * The settings that policies over a {@link BookingRouter} share, read from args by the names of
 * Dynamo's options. Immutable.
 *
 * @param options loads, thresholds, queue, explanations
 * @param ttlMs time for which a placed prompt counts as held, in milliseconds; 0: it does not
 * @param maxIndexBytes cap on the memory of each prefix index
 */
public record BookingSettings(BookingOptions options, long ttlMs, long maxIndexBytes) {

  /** Key of {@link #maxIndexBytes}. */
  public static final String MAX_INDEX_BYTES = "max_index_bytes";

  /** Key of {@link BookingOptions#explain}. */
  public static final String EXPLAIN = "explain";

  /** Key of {@link #ttlMs}, in seconds, in addition to block events. */
  public static final String PREDICTED_TTL = "router_predicted_ttl_secs";

  /** Key of {@link #ttlMs}, in seconds, without block events. */
  public static final String TTL = "router_ttl_secs";

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

  /** The keys of all but the time for which a placed prompt counts as held. */
  public static final List<String> KEYS =
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
  private static final long DEFAULT_MAX_INDEX_BYTES = 1L << 32;
  private static final long MIN_INDEX_BYTES = 1 << 20;

  /**
   * Reads the settings of a policy that follows block events.
   *
   * @param args the args, whose keys include {@link #KEYS} and {@link #PREDICTED_TTL}
   * @return the settings
   * @throws IllegalArgumentException naming the key that is out of range and what is allowed
   */
  public static BookingSettings following(RouterArgs args) {
    double seconds = args.number(PREDICTED_TTL, PREDICTED_TTL_SECONDS);
    if (seconds != 0) {
      Checks.within(PREDICTED_TTL, seconds, MIN_TTL_SECONDS, MAX_SECONDS);
    }
    return of(args, seconds);
  }

  /**
   * Reads the settings of a policy without block events.
   *
   * @param args the args, whose keys include {@link #KEYS} and {@link #TTL}
   * @param ttlSeconds the time for which a placed prompt counts as held, unless the args say it
   * @return the settings
   * @throws IllegalArgumentException naming the key that is out of range and what is allowed
   */
  public static BookingSettings approximate(RouterArgs args, double ttlSeconds) {
    double seconds = args.number(TTL, ttlSeconds);
    Checks.within(TTL, seconds, MIN_TTL_SECONDS, MAX_SECONDS);
    return of(args, seconds);
  }

  private static BookingSettings of(RouterArgs args, double ttlSeconds) {
    return new BookingSettings(
        BookingOptions.DEFAULT
            .withLoads(loads(args))
            .withBusyThresholds(busy(args))
            .withQueue(queue(args))
            .withExplain(args.flag(EXPLAIN, false)),
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
    PrefixIndex followed = emptyIndex(setup);
    return ttlMs > 0 ? new PredictingIndex(followed, approximateIndex(setup)) : followed;
  }

  /**
   * Makes an index of what ranks hold by placements.
   *
   * @param setup how blocks are named, their size, and the clock
   * @return the index; the caller closes it
   */
  public ApproximateIndex approximateIndex(FleetRouterSetup setup) {
    return new ApproximateIndex(
        emptyIndex(setup), ApproximateOptions.DEFAULT.withTtlMs(ttlMs), setup.clockNs());
  }

  private PrefixIndex emptyIndex(FleetRouterSetup setup) {
    return new NativePrefixIndex(setup.naming(), setup.tokensPerBlock(), maxIndexBytes);
  }

  /**
   * Reads the cap on the memory of a prefix index.
   *
   * @param args the args, whose keys include {@link #MAX_INDEX_BYTES}
   * @return bytes
   * @throws IllegalArgumentException if it is out of range
   */
  public static long maxIndexBytes(RouterArgs args) {
    return args.longInteger(MAX_INDEX_BYTES, MIN_INDEX_BYTES, DEFAULT_MAX_INDEX_BYTES);
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
