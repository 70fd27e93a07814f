package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AttentionDpConfigTest {

  private static final String AFFINITY = "kv_cache_routing_conversation_affinity";
  private static final String KV_AWARE = "enable_kv_cache_aware_routing";

  @Test
  void anEmptyBlockIsTheDefault() {
    assertThat(AttentionDpConfig.of(Map.of())).isEqualTo(AttentionDpConfig.DEFAULT);
  }

  @Test
  void everyKeyIsRead() {
    Map<String, Object> block = new HashMap<>();
    block.put("enable_balance", true);
    block.put("timeout_iters", 7);
    block.put("batching_wait_iters", 0L);
    block.put(KV_AWARE, true);
    block.put("kv_cache_routing_load_balance_weight", 0);
    block.put("kv_cache_routing_match_rate_threshold", 1);
    block.put("kv_cache_routing_fair_share_multiplier", 1.5);
    block.put("kv_cache_routing_cold_start_warmup", true);
    block.put("kv_cache_routing_account_for_in_transfer", false);
    block.put("kv_cache_routing_first_turn_round_robin", true);
    block.put(AFFINITY, true);
    block.put("kv_cache_routing_max_sessions", 1);
    block.put("kv_cache_routing_new_conv_placement", "least_tokens");
    block.put("dkv_token_load", true);
    block.put("projected_omitted_term", "lockstep");
    assertThat(AttentionDpConfig.of(block))
        .isEqualTo(
            new AttentionDpConfig(
                true,
                7,
                0,
                0,
                0,
                true,
                true,
                new KvCacheRoutingOptions(0, 1, 1.5, true, false, true),
                1,
                NewConversationPlacement.LEAST_TOKENS,
                true,
                "lockstep"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          enable_balance | yes | enable_balance must be true or false, not yes
          timeout_iters | -1 | timeout_iters must be a whole number within 0 to 2147483647, not -1
          batching_wait_iters | 1.5 | batching_wait_iters must be a whole number within 0 to 2147483647, not 1.5
          kv_cache_routing_load_balance_weight | -1 | kv_cache_routing_load_balance_weight must be finite and at least 0, not -1.0
          kv_cache_routing_match_rate_threshold | 1.5 | kv_cache_routing_match_rate_threshold must be within 0 to 1, not 1.5
          kv_cache_routing_match_rate_threshold | x | kv_cache_routing_match_rate_threshold must be a number, not x
          kv_cache_routing_fair_share_multiplier | 0.5 | kv_cache_routing_fair_share_multiplier must be finite and at least 1, not 0.5
          kv_cache_routing_max_sessions | 0 | kv_cache_routing_max_sessions must be a whole number within 1 to 2147483647, not 0
          kv_cache_routing_max_sessions | 4294967297 | kv_cache_routing_max_sessions must be a whole number within 1 to 2147483647, not 4294967297
          kv_cache_routing_new_conv_placement | banana | kv_cache_routing_new_conv_placement must be one of round_robin, least_queued, least_tokens, not 'banana'
          projected_omitted_term | rank | projected_omitted_term must be one of queue, compute, lockstep, others, eviction, work, not 'rank'
          projected_omitted_term | 1 | projected_omitted_term must be a text, not 1
          kv_cache_routing_cold_start_warmup | | kv_cache_routing_cold_start_warmup must be true or false, not null
          """)
  void aValueOutOfRangeIsRefusedByTheNameOfItsKey(String key, String text, String message) {
    Map<String, Object> block = new HashMap<>();
    block.put(key, value(text));
    assertThatThrownBy(() -> AttentionDpConfig.of(block))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  private static Object value(String text) {
    if (text == null || !text.matches("-?[0-9.]+")) {
      return text;
    }
    return text.contains(".") ? (Object) Double.valueOf(text) : (Object) Long.valueOf(text);
  }

  @Test
  void anUnknownKeyIsAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> AttentionDpConfig.of(Map.of("enable_balanc", true)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("attention_dp_config has no key 'enable_balanc'; it has batching")
        .hasMessageContaining(AFFINITY);
  }

  @Test
  void recordsAreCheckedToo() {
    AttentionDpConfig d = AttentionDpConfig.DEFAULT;
    assertThatThrownBy(
            () ->
                new AttentionDpConfig(
                    true,
                    -1,
                    0,
                    0,
                    0,
                    true,
                    true,
                    d.kvCacheRouting(),
                    1,
                    d.newConversationPlacement(),
                    false,
                    ""))
        .hasMessage("timeout_iters must be at least 0, not -1");
  }

  @Test
  void conversationAffinityComesFirstAndNeedsNoCache() {
    AttentionDpConfig both = AttentionDpConfig.of(Map.of(AFFINITY, true, KV_AWARE, true));
    assertThat(both.router(true)).isEqualTo(AdpRouterKind.CONVERSATION);
    assertThat(both.router(false)).isEqualTo(AdpRouterKind.CONVERSATION);
  }

  @Test
  void followingTheCacheNeedsReuse() {
    AttentionDpConfig aware = AttentionDpConfig.of(Map.of(KV_AWARE, true));
    assertThat(aware.router(true)).isEqualTo(AdpRouterKind.KV_CACHE_AWARE);
    assertThat(aware.router(false)).isEqualTo(AdpRouterKind.DEFAULT);
    assertThat(AttentionDpConfig.DEFAULT.router(true)).isEqualTo(AdpRouterKind.DEFAULT);
  }
}
