package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.trtllm.DisaggParams.RequestType;
import io.kvasir.model.RankId;
import io.kvasir.model.Request;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DisaggFlowTest {

  private static final FleetRequest UNNAMED = FleetRequest.builder(1, Prompt.of("hello")).build();
  private static final FleetRequest FIRST =
      FleetRequest.builder(1, Prompt.of("hello"))
          .conversationId("conversation-a")
          .tokens(Prompt.of("hello").codePoints())
          .build();

  private static FleetRouter router(String policy) {
    FleetRouter router = FleetRouterKind.named(policy).create(Map.of(), FleetRouterSetup.of(1));
    router.addRank(new RankId(0, 0), RankCapacity.UNKNOWN);
    return router;
  }

  private static DisaggParams own(FleetRequest request) {
    return withPlacement(DisaggParams.NONE, request, router("conversation"));
  }

  private static DisaggParams withPlacement(
      DisaggParams params, FleetRequest request, FleetRouter router) {
    return params.withConversation(request, NamedFleet.placement(router.route(request)));
  }

  /** The request that a rank builds from received parameters. */
  private static Request atRank(DisaggParams sent) {
    return DisaggParams.fromMap(sent.toMap()).applyTo(Request.builder(1, new int[] {1, 2})).build();
  }

  /** B14. */
  @Test
  void contextFirstTheConversationReachesBothRanks() {
    DisaggParams own = own(FIRST);
    DisaggParams context = DisaggParams.fromMap(DisaggFlow.contextParams(own, 77).toMap());
    assertThat(context.requestType()).isEqualTo(RequestType.CONTEXT_ONLY);
    assertThat(atRank(context).conversationId()).isEqualTo("conversation-a");
    assertThat(atRank(context).firstTurn()).isTrue();

    Map<String, Object> fromContextServer =
        Map.of("ctx_request_id", 12, "disagg_request_id", 77, "opaque_state", "xyz");
    DisaggParams verified = DisaggFlow.verified(1, DisaggParams.fromMap(fromContextServer));
    DisaggParams generation = DisaggFlow.generationParams(own, verified);
    assertThat(generation.toMap())
        .isEqualTo(
            Map.of(
                "request_type",
                "generation_only",
                "ctx_request_id",
                12L,
                "disagg_request_id",
                77L,
                "opaque_state",
                "xyz",
                "conversation_id",
                "conversation-a",
                "is_first_turn",
                true));
    assertThat(atRank(generation).conversationId()).isEqualTo("conversation-a");
    assertThat(atRank(generation).firstTurn()).isTrue();
  }

  /** B14. */
  @Test
  void generationFirstTheConversationReachesBothRanks() {
    DisaggParams own = own(FIRST);
    DisaggParams generation =
        DisaggFlow.generationFirstParams(
            own, Map.of("ctx_info_endpoint", List.of("tcp://a", "tcp://b"), "ctx_dp_rank", 3), 77);
    assertThat(generation.others())
        .isEqualTo(Map.of("ctx_info_endpoint", "tcp://a", "ctx_dp_rank", 3));
    assertThat(generation.disaggRequestId()).isEqualTo(77);
    for (DisaggParams sent : List.of(generation, DisaggFlow.contextParams(own, 77))) {
      assertThat(atRank(sent).conversationId()).isEqualTo("conversation-a");
      assertThat(atRank(sent).firstTurn()).isTrue();
    }
  }

  @Test
  void aLaterTurnIsNotAFirstOneAtTheRank() {
    FleetRouter router = router("conversation");
    router.route(FIRST);
    DisaggParams own = withPlacement(DisaggParams.NONE, FIRST, router);
    assertThat(atRank(own).firstTurn()).isFalse();
    assertThat(atRank(own).conversationId()).isEqualTo("conversation-a");
  }

  /** B14, on every path and through every router. */
  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "kv_cache_aware", "conversation"})
  void conversationAndFirstTurnComeBackFromTheRankAsTheyWent(String policy) {
    FleetRouter router = router(policy);
    for (boolean first : new boolean[] {true, false, false}) {
      Request client =
          Request.builder(1, new int[] {1, 2})
              .conversationId("conversation-a")
              .firstTurn(first)
              .build();
      DisaggParams sent = DisaggParams.of(client);
      DisaggParams own = withPlacement(sent, FIRST, router);
      assertThat(own).isEqualTo(sent);

      DisaggParams context = DisaggFlow.contextParams(own, 77);
      DisaggParams fromContext = ids(12L, 77L);
      for (DisaggParams part :
          List.of(
              context,
              DisaggFlow.generationParams(own, fromContext),
              DisaggFlow.generationFirstParams(own, Map.of("ctx_dp_rank", 3), 77))) {
        assertThat(DisaggParams.of(atRank(part))).as(part.toString()).isEqualTo(sent);
        assertThat(DisaggParams.fromMap(part.toMap())).isEqualTo(part);
      }
    }
  }

  @Test
  void aRouterWithoutConversationsTakesNothingAway() {
    FleetRouter router = router("round_robin");
    DisaggParams known = new DisaggParams(null, null, null, "a", true, Map.of("k", "v"));

    assertThat(withPlacement(known, UNNAMED, router)).isEqualTo(known);
    assertThat(withPlacement(known, FIRST, router).conversationId())
        .as("the request's own id goes first")
        .isEqualTo("conversation-a");
  }

  @Test
  void aMadeUpConversationReachesTheRank() {
    assertThat(atRank(own(UNNAMED)).conversationId()).isEqualTo("conv_id:0_1");
  }

  @Test
  void anIncompleteContextAnswerIsRefused() {
    DisaggParams whole = DisaggFlow.generationParams(DisaggParams.NONE, ids(1L, 2L));
    assertThat(DisaggFlow.verified(1, whole)).isEqualTo(whole);
    for (int choices : new int[] {0, 2}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> DisaggFlow.verified(choices, whole))
          .withMessage("context answer must have exactly 1 choice, not " + choices);
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DisaggFlow.verified(1, null))
        .withMessage("context answer must have disaggregated_params");
    for (DisaggParams wrong : List.of(ids(null, 2L), ids(1L, null))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> DisaggFlow.verified(1, wrong))
          .withMessage("context answer must have ctx_request_id and disagg_request_id");
    }
  }

  private static DisaggParams ids(Long context, Long shared) {
    return new DisaggParams(null, context, shared, null, false, Map.of());
  }

  @Test
  void generationGoesOnOnlyIfTheAnswerIsNotComplete() {
    assertThat(DisaggFlow.needsGeneration("length")).isTrue();
    assertThat(DisaggFlow.needsGeneration("not_finished")).isTrue();
    assertThat(DisaggFlow.needsGeneration("stop")).isFalse();
    assertThat(DisaggFlow.needsGeneration(null)).isFalse();
  }

  @Test
  void wrongFieldsAreNamed() {
    for (String key :
        List.of("request_type", "ctx_request_id", "disagg_request_id", "conversation_id")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> DisaggParams.fromMap(Map.of(key, List.of())))
          .withMessageContaining(key);
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DisaggParams.fromMap(Map.of("request_type", "prefill")))
        .withMessageContaining("prefill");
  }
}
