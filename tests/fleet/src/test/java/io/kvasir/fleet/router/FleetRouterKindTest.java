package io.kvasir.fleet.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.model.RankId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FleetRouterKindTest {

  /** Registered in META-INF/services of the tests. */
  @Test
  void aCustomPolicyIsFoundByName() {
    FleetRouter router = FleetRouterKind.named("FIRST").create(Map.of(), FleetRouterSetup.of(16));
    router.addRank(new RankId(7, 0), RankCapacity.UNKNOWN);
    router.addRank(new RankId(3, 0), RankCapacity.UNKNOWN);
    FleetRequestBuilder request = FleetRequest.builder(1, Prompt.of("any"));
    assertThat(router.route(request.build()))
        .isInstanceOfSatisfying(
            RouteOutcome.Placed.class,
            placed -> assertThat(placed.placement().rank()).isEqualTo(RankId.anyOf(7)));
    RankFilter none = RankFilter.exclude(Set.of(RankId.anyOf(7), new RankId(3, 0)));
    assertThat(router.route(request.filter(none).build()))
        .isEqualTo(
            new RouteOutcome.Refused(
                Refusal.NO_ENDPOINT, "every worker is excluded or not allowed"));
  }

  @Test
  void kvasirsOwnPoliciesPrecedeCustomOnes() {
    List<String> names = FleetRouterKind.all().stream().map(FleetRouterProvider::name).toList();
    assertThat(names)
        .startsWith("round_robin", "load_balancing", "kv_cache_aware", "conversation")
        .endsWith("first");
  }

  @Test
  void anUnknownNameListsTheKnownOnes() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FleetRouterKind.named("best"))
        .withMessageContaining("round_robin")
        .withMessageContaining("first")
        .withMessageContaining("best");
  }

  @Test
  void codePointsStandForTokens() {
    assertThat(new Prompt.Texts(List.of("a\uD83D\uDE00", "")).codePoints())
        .containsExactly(new int[] {'a', 0x1F600}, new int[0]);
    Prompt chat =
        new Prompt.Chat(
            List.of(new Prompt.Message("user", "hi"), new Prompt.Message("assistant", null)));
    assertThat(chat.codePoints()).containsExactly("user:hi\nassistant:".codePoints().toArray());
  }
}
