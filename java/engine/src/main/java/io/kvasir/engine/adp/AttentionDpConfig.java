package io.kvasir.engine.adp;

import io.kvasir.model.Checks;
import io.kvasir.model.Choice;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * TensorRT-LLM's {@code attention_dp_config}: the ADP router of a worker and its settings.
 *
 * <p>Immutable.
 *
 * @param enableBalance whether prefill is delayed while ranks are out of balance
 * @param timeoutIters maximum iterations of delay
 * @param batchingWaitIters iterations of delay in order to gather larger batches
 * @param minGenerationRequests if some rank decodes fewer requests than this, {@code
 *     lowOccupancyTimeoutIters} replaces {@code timeoutIters}; 0 for never. This value and the next
 *     are not keys of the block but TensorRT-LLM's environment variables {@code
 *     TLLM_ADP_BALANCE_MIN_GENERATION_REQUESTS} and {@code
 *     TLLM_ADP_BALANCE_LOW_OCCUPANCY_TIMEOUT_ITERS}
 * @param lowOccupancyTimeoutIters maximum iterations of delay in that case
 * @param enableKvCacheAwareRouting whether the router uses prefix matches
 * @param conversationAffinity whether the router keeps conversations on their ranks
 * @param kvCacheRouting settings of the {@code kv_cache_aware} router; the {@code conversation}
 *     router uses the multiplier too
 * @param maxSessions conversations that the {@code conversation} router remembers
 * @param newConversationPlacement how that router places new conversations
 * @param dkvTokenLoad whether the {@code default} router counts only tokens that no rank holds. Not
 *     a key of the block upstream: there, {@code dkv_config} enables it
 * @param projectedOmittedTerm the term that the {@code projected} router leaves out of its score,
 *     to see what it is worth; empty for none
 */
public record AttentionDpConfig(
    boolean enableBalance,
    int timeoutIters,
    int batchingWaitIters,
    int minGenerationRequests,
    int lowOccupancyTimeoutIters,
    boolean enableKvCacheAwareRouting,
    boolean conversationAffinity,
    KvCacheRoutingOptions kvCacheRouting,
    int maxSessions,
    NewConversationPlacement newConversationPlacement,
    boolean dkvTokenLoad,
    String projectedOmittedTerm) {

  /** Nothing enabled; 50 and 10 iterations; 65,536 conversations, placed round-robin. */
  public static final AttentionDpConfig DEFAULT =
      new AttentionDpConfig(
          false,
          50,
          10,
          0,
          0,
          false,
          false,
          KvCacheRoutingOptions.DEFAULT,
          65_536,
          NewConversationPlacement.ROUND_ROBIN,
          false,
          "");

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException naming the key that is out of range and the allowed range
   */
  public AttentionDpConfig {
    Checks.atLeast("timeout_iters", timeoutIters, 0);
    Checks.atLeast("batching_wait_iters", batchingWaitIters, 0);
    Checks.atLeast("min_generation_requests", minGenerationRequests, 0);
    Checks.atLeast("low_occupancy_timeout_iters", lowOccupancyTimeoutIters, 0);
    Checks.atLeast("kv_cache_routing_max_sessions", maxSessions, 1);
    Objects.requireNonNull(kvCacheRouting, "kvCacheRouting");
    Objects.requireNonNull(newConversationPlacement, "newConversationPlacement");
    if (!projectedOmittedTerm.isEmpty()) {
      Choice.named(
          "projected_omitted_term",
          ProjectedAdpRouter.TERMS.toArray(new String[0]),
          Function.identity(),
          projectedOmittedTerm);
    }
  }

  /**
   * Reads the block as a YAML or JSON parser returns it. Missing keys take their defaults.
   *
   * @param block values by TensorRT-LLM's names: booleans, whole numbers, numbers and strings
   * @return the configuration
   * @throws IllegalArgumentException naming the key that is unknown, of the wrong type or out of
   *     range, and the allowed values
   */
  public static AttentionDpConfig of(Map<String, ?> block) {
    return new AttentionDpBlock(block).read();
  }

  /** {@return the keys that a block may have: TensorRT-LLM's names, in alphabetical order} */
  public static List<String> keys() {
    return AttentionDpBlock.keys();
  }

  /**
   * The default configuration with the given settings of the {@code kv_cache_aware} router.
   *
   * @param options the settings
   * @return the configuration
   */
  public static AttentionDpConfig of(KvCacheRoutingOptions options) {
    return new AttentionDpConfig(
        DEFAULT.enableBalance,
        DEFAULT.timeoutIters,
        DEFAULT.batchingWaitIters,
        DEFAULT.minGenerationRequests,
        DEFAULT.lowOccupancyTimeoutIters,
        DEFAULT.enableKvCacheAwareRouting,
        DEFAULT.conversationAffinity,
        options,
        DEFAULT.maxSessions,
        DEFAULT.newConversationPlacement,
        DEFAULT.dkvTokenLoad,
        DEFAULT.projectedOmittedTerm);
  }

  /**
   * The router that the enabling keys select. Conversation affinity takes precedence and works
   * without block reuse. Without block reuse, {@code enableKvCacheAwareRouting} has no effect.
   *
   * @param enableBlockReuse whether the worker's ranks reuse blocks
   * @return the router's kind
   */
  public AdpRouterKind router(boolean enableBlockReuse) {
    if (conversationAffinity) {
      return AdpRouterKind.CONVERSATION;
    }
    return enableKvCacheAwareRouting && enableBlockReuse
        ? AdpRouterKind.KV_CACHE_AWARE
        : AdpRouterKind.DEFAULT;
  }
}
