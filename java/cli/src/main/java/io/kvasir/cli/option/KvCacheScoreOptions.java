package io.kvasir.cli.option;

import io.kvasir.engine.adp.KvCacheRoutingOptions;
import java.util.List;

/** The options by which the {@code kv_cache_aware} router scores ranks. */
@Heading(value = "TensorRT-LLM's attention_dp_config", block = Block.EMBEDDED)
public final class KvCacheScoreOptions extends DeclaredOptions {

  private static final double MAX_WEIGHT = 1e6;
  private static final String WEIGHT = "--kv-cache-routing-load-balance-weight";
  private static final String THRESHOLD = "--kv-cache-routing-match-rate-threshold";
  private static final String MULTIPLIER = "--kv-cache-routing-fair-share-multiplier";

  /** Names of the options. */
  public static final List<String> NAMES = List.of(WEIGHT, THRESHOLD, MULTIPLIER);

  private final Declared<Double> loadBalanceWeight =
      number(WEIGHT, "1.0", 0, MAX_WEIGHT).help(50, "Weight of load relative to reuse");

  private final Declared<Double> matchRateThreshold =
      number(THRESHOLD, "0.1", 0, 1)
          .help(51, "Share of a prompt that must match before reuse counts");

  private final Declared<Double> fairShareMultiplier =
      number(MULTIPLIER, "2.0", 1, MAX_WEIGHT)
          .help(52, "Most requests of a rank, as a multiple of its fair share");

  KvCacheScoreOptions() {}

  /**
   * {@return settings of the router with these values}
   *
   * @param others gives all other values
   * @throws UsageException if a value is not allowed
   */
  public KvCacheRoutingOptions with(KvCacheRoutingOptions others) {
    return new KvCacheRoutingOptions(
        loadBalanceWeight.value(),
        matchRateThreshold.value(),
        fairShareMultiplier.value(),
        others.coldStartWarmup(),
        others.accountForInTransfer(),
        others.firstTurnRoundRobin());
  }
}
