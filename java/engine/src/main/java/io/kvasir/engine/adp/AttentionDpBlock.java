package io.kvasir.engine.adp;

import io.kvasir.model.Errors;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads an {@code attention_dp_config} block from the values that a YAML or JSON parser returned.
 *
 * <p>Not thread-safe.
 */
final class AttentionDpBlock {

  private static final String ROUTING = "kv_cache_routing_";

  private final Map<String, ?> block;
  private final TreeSet<String> known = new TreeSet<>();

  AttentionDpBlock(Map<String, ?> block) {
    this.block = block;
  }

  /** The keys that a block may have, in alphabetical order. */
  static List<String> keys() {
    AttentionDpBlock empty = new AttentionDpBlock(Map.of());
    empty.read();
    return List.copyOf(empty.known);
  }

  AttentionDpConfig read() {
    AttentionDpConfig defaults = AttentionDpConfig.DEFAULT;
    KvCacheRoutingOptions routing = defaults.kvCacheRouting();
    AttentionDpConfig config =
        new AttentionDpConfig(
            flag("enable_balance", defaults.enableBalance()),
            whole("timeout_iters", defaults.timeoutIters(), 0),
            whole("batching_wait_iters", defaults.batchingWaitIters(), 0),
            defaults.minGenerationRequests(),
            defaults.lowOccupancyTimeoutIters(),
            flag("enable_kv_cache_aware_routing", defaults.enableKvCacheAwareRouting()),
            flag(ROUTING + "conversation_affinity", defaults.conversationAffinity()),
            new KvCacheRoutingOptions(
                number(ROUTING + "load_balance_weight", routing.loadBalanceWeight()),
                number(ROUTING + "match_rate_threshold", routing.matchRateThreshold()),
                number(ROUTING + "fair_share_multiplier", routing.fairShareMultiplier()),
                flag(ROUTING + "cold_start_warmup", routing.coldStartWarmup()),
                flag(ROUTING + "account_for_in_transfer", routing.accountForInTransfer()),
                flag(ROUTING + "first_turn_round_robin", routing.firstTurnRoundRobin())),
            whole(ROUTING + "max_sessions", defaults.maxSessions(), 1),
            placement(ROUTING + "new_conv_placement", defaults.newConversationPlacement()),
            flag("dkv_token_load", defaults.dkvTokenLoad()),
            text("projected_omitted_term", defaults.projectedOmittedTerm()));
    for (Object key : block.keySet()) {
      if (!(key instanceof String) || !known.contains(key)) {
        throw new IllegalArgumentException(
            "attention_dp_config has no key '"
                + Errors.shown(key)
                + "'; it has "
                + String.join(", ", known));
      }
    }
    return config;
  }

  private @Nullable Object value(String key, Object missing) {
    known.add(key);
    return block.containsKey(key) ? block.get(key) : missing;
  }

  private boolean flag(String key, boolean missing) {
    Object value = value(key, missing);
    if (value instanceof Boolean flag) {
      return flag;
    }
    throw wrong(key, "true or false", value);
  }

  private int whole(String key, int missing, int least) {
    Object value = value(key, missing);
    boolean isWhole = value instanceof Integer || value instanceof Long;
    if (isWhole && value instanceof Number number && number.longValue() >= least) {
      if (number.longValue() <= Integer.MAX_VALUE) {
        return number.intValue();
      }
    }
    throw wrong(key, "a whole number within " + least + " to " + Integer.MAX_VALUE, value);
  }

  private double number(String key, double missing) {
    Object value = value(key, missing);
    if (value instanceof Number number) {
      return number.doubleValue();
    }
    throw wrong(key, "a number", value);
  }

  private NewConversationPlacement placement(String key, NewConversationPlacement missing) {
    Object value = value(key, missing);
    return value == missing ? missing : NewConversationPlacement.named(String.valueOf(value));
  }

  private String text(String key, String missing) {
    Object value = value(key, missing);
    if (value instanceof String text) {
      return text;
    }
    throw wrong(key, "a text", value);
  }

  private static IllegalArgumentException wrong(
      String key, String allowed, @Nullable Object value) {
    return new IllegalArgumentException(
        key + " must be " + allowed + ", not " + Errors.shown(value));
  }
}
