package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.List;
import org.junit.jupiter.api.Test;

class KvCacheAwareAdpRouterTest {

  private static final List<RankState> IDLE =
      List.of(new RankState(0, 0, 0), new RankState(1, 0, 0));
  private static final List<Request> ONE = List.of(Request.builder(1, new int[100]).build());

  @Test
  void saysWhatItNeedsToKnow() {
    AdpRouter router = new KvCacheAwareAdpRouter(2, KvCacheRoutingOptions.DEFAULT);
    assertThat(router.needsPrefixMatches()).isTrue();
    assertThat(router.loadMetric()).isEqualTo(LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS);
    assertThat(new DefaultAdpRouter(2).needsPrefixMatches()).isFalse();
    assertThat(new DefaultAdpRouter(2).loadMetric()).isEqualTo(LoadMetric.PROMPT_TOKENS);
  }

  @Test
  void carriesScoresOnlyWhenAskedToExplain() {
    Decision plain = decide(new KvCacheAwareAdpRouter(2, KvCacheRoutingOptions.DEFAULT));
    Decision explained =
        decide(new KvCacheAwareAdpRouter(2, KvCacheRoutingOptions.DEFAULT, null, true));
    assertThat(plain.scores()).isEmpty();
    assertThat(plain.scoredRanks()).isEmpty();
    assertThat(explained.scoredRanks()).containsExactly(0, 1);
    assertThat(explained.scores()).containsExactly(100.0, 50.0);
    assertThat(explained.rank()).isEqualTo(plain.rank()).isEqualTo(1);
    assertThat(explained.reason()).isEqualTo(AdpReason.AFFINITY);
    assertThat(explained.matchedTokens()).isEqualTo(50);
  }

  private static Decision decide(AdpRouter router) {
    PrefixMatches matches = new PrefixMatches(2, 1);
    matches.set(1, 0, 50);
    return router.route(IDLE, ONE, matches, 10).decisions().get(0);
  }

  @Test
  void aBadBatchDoesNotWarmARank() {
    KvCacheAwareAdpRouter router =
        new KvCacheAwareAdpRouter(2, new KvCacheRoutingOptions(1, 0.1, 2, true, true, false));
    List<Request> bad = List.of(ONE.get(0), Request.builder(2, new int[1]).targetRank(5).build());
    assertThatThrownBy(() -> router.route(IDLE, bad, PrefixMatches.NONE, 10))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(router.warmupPending().cardinality()).isEqualTo(2);
  }

  @Test
  void optionsOutOfRangeAreRefusedByTheNameOfTheKey() {
    assertRefused(
        () -> new KvCacheRoutingOptions(-0.5, 0.1, 2, false, true, false),
        "kv_cache_routing_load_balance_weight must be finite and at least 0, not -0.5");
    assertRefused(
        () -> new KvCacheRoutingOptions(Double.POSITIVE_INFINITY, 0.1, 2, false, true, false),
        "kv_cache_routing_load_balance_weight must be finite and at least 0, not Infinity");
    assertRefused(
        () -> new KvCacheRoutingOptions(1, 1.5, 2, false, true, false),
        "kv_cache_routing_match_rate_threshold must be within 0 to 1, not 1.5");
    assertRefused(
        () -> new KvCacheRoutingOptions(1, Double.NaN, 2, false, true, false),
        "kv_cache_routing_match_rate_threshold must be within 0 to 1, not NaN");
    assertRefused(
        () -> new KvCacheRoutingOptions(1, 0.1, 0.5, false, true, false),
        "kv_cache_routing_fair_share_multiplier must be finite and at least 1, not 0.5");
  }

  private static void assertRefused(Runnable construction, String message) {
    assertThatThrownBy(construction::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }
}
