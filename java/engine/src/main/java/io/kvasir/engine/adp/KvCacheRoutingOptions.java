package io.kvasir.engine.adp;

/**
 * Settings of the {@code kv_cache_aware} router. The names, after {@code kv_cache_routing_}, and
 * the defaults are those of TensorRT-LLM's {@code attention_dp_config}; the bounds are stricter.
 *
 * <p>Immutable.
 *
 * @param loadBalanceWeight how much load counts against reuse: 0 follows the cache alone; with 1
 *     the most loaded rank is charged at most one whole prompt
 * @param matchRateThreshold the share of the prompt that some eligible rank must hold, strictly
 *     exceeded, before matches count at all; 1 never lets them count
 * @param fairShareMultiplier how far above its fair share of requests a rank may go
 * @param coldStartWarmup whether every rank is given one request before matches decide
 * @param accountForInTransfer whether requests whose KV is being sent count for load and admission
 * @param firstTurnRoundRobin whether the first turns of conversations are dealt out in turn
 */
public record KvCacheRoutingOptions(
    double loadBalanceWeight,
    double matchRateThreshold,
    double fairShareMultiplier,
    boolean coldStartWarmup,
    boolean accountForInTransfer,
    boolean firstTurnRoundRobin) {

  /**
   * Weight 1.0, threshold 0.1, multiplier 2.0, no warm-up, no first turns in turn, as in
   * TensorRT-LLM; unlike there, requests in transfer count.
   */
  public static final KvCacheRoutingOptions DEFAULT =
      new KvCacheRoutingOptions(1.0, 0.1, 2.0, false, true, false);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException naming the configuration key that is out of range, what is
   *     allowed and what was given
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
