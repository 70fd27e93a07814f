package io.kvasir.engine.adp;

/**
 * Settings of the {@code kv_cache_aware} router. The names, after {@code kv_cache_routing_}, and
 * the defaults are those of TensorRT-LLM's {@code attention_dp_config}; the bounds are stricter.
 *
 * <p>Immutable.
 *
 * @param loadBalanceWeight weight of load against reuse: 0 ignores load; 1 charges the most loaded
 *     rank at most one whole prompt
 * @param matchRateThreshold share of the prompt that the longest match must exceed for matches to
 *     count; with 1 matches never count
 * @param fairShareMultiplier multiple of its fair share of requests up to which a rank is eligible
 * @param coldStartWarmup whether every rank gets one request before matches count
 * @param accountForInTransfer whether requests whose KV is being sent count for load and admission
 * @param firstTurnRoundRobin whether first turns of conversations are placed round-robin
 */
public record KvCacheRoutingOptions(
    double loadBalanceWeight,
    double matchRateThreshold,
    double fairShareMultiplier,
    boolean coldStartWarmup,
    boolean accountForInTransfer,
    boolean firstTurnRoundRobin) {

  /**
   * Weight 1.0, threshold 0.1, multiplier 2.0, no warm-up and no round-robin of first turns, as in
   * TensorRT-LLM. Unlike TensorRT-LLM, requests in transfer count.
   */
  public static final KvCacheRoutingOptions DEFAULT =
      new KvCacheRoutingOptions(1.0, 0.1, 2.0, false, true, false);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException naming the configuration key that is out of range, the allowed
   *     range and the value
   */
  public KvCacheRoutingOptions {
    if (!(loadBalanceWeight >= 0 && Double.isFinite(loadBalanceWeight))) {
      throw outOfRange("load_balance_weight", "finite and at least 0", loadBalanceWeight);
    }
    if (!(matchRateThreshold >= 0 && matchRateThreshold <= 1)) {
      throw outOfRange("match_rate_threshold", "within 0 to 1", matchRateThreshold);
    }
    if (!(fairShareMultiplier >= 1 && Double.isFinite(fairShareMultiplier))) {
      throw outOfRange("fair_share_multiplier", "finite and at least 1", fairShareMultiplier);
    }
  }

  private static IllegalArgumentException outOfRange(String key, String allowed, double value) {
    return new IllegalArgumentException(
        "kv_cache_routing_" + key + " must be " + allowed + ", not " + value);
  }
}
