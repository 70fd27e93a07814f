package io.kvasir.fleet.router.trtllm;

import io.kvasir.model.Checks;

/**
 * Settings of the {@code kv_cache_aware} fleet router, by TensorRT-LLM's names and defaults.
 *
 * <p>Immutable.
 *
 * @param maxBatchSize requests that a worker is expected to take
 * @param tokensPerBlock tokens in a block, or 0 to adopt the first prepared worker's; until then
 *     {@link #DEFAULT_TOKENS_PER_BLOCK}
 * @param loadWeight blocks of match that outweigh one active request
 * @param loadCap share of {@code maxBatchSize} at which a worker is avoided; may be infinite
 * @param trackRoutedBlocks whether a worker is expected to hold what it has served
 * @param maxSessions conversations remembered, for {@code firstTurn} alone
 */
public record KvCacheAwareRouterOptions(
    int maxBatchSize,
    int tokensPerBlock,
    double loadWeight,
    double loadCap,
    boolean trackRoutedBlocks,
    int maxSessions) {

  /** Tokens in a block where none are configured or adopted. */
  public static final int DEFAULT_TOKENS_PER_BLOCK = 32;

  /** TensorRT-LLM's defaults: 64, adopt, 0.25, infinite, true, 100,000. */
  public static final KvCacheAwareRouterOptions DEFAULT =
      new KvCacheAwareRouterOptions(64, 0, 0.25, Double.POSITIVE_INFINITY, true, 100_000);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException naming the key that is out of range, what is allowed and what
   *     was given
   */
  public KvCacheAwareRouterOptions {
    Checks.atLeast("max_batch_size", maxBatchSize, 1);
    Checks.atLeast("tokens_per_block", tokensPerBlock, 0);
    Checks.finiteAtLeast0("load_weight", loadWeight);
    Checks.within("load_cap", loadCap, 0, Double.POSITIVE_INFINITY);
    Checks.atLeast("max_sessions", maxSessions, 1);
  }
}
