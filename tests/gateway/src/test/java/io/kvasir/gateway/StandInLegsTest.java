package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Prefill and decode apart in front of strict stand-ins, in each dialect. */
class StandInLegsTest {

  private static final int RANKS = 2;

  /** No decode worker computes a prompt. */
  private static DisaggSettings apart(Style style) {
    return new DisaggSettings(
        style,
        0,
        1,
        null,
        new RouterChoice(RouterChoice.AUTO, Map.of()),
        new RouterChoice(RouterChoice.AUTO, Map.of()),
        60_000,
        false,
        false);
  }

  private static final String COMPLETIONS = "/v1/completions";

  private static String body(int conversation, int turns, boolean streams) {
    return "{\"model\":\"words\",\"max_tokens\":4,\"prompt\":\""
        + ("c" + conversation + " ").repeat(16 * (turns + 1))
        + "\""
        + (streams ? ",\"stream\":true,\"stream_options\":{\"include_usage\":true}" : "")
        + "}";
  }

  @ParameterizedTest
  @EnumSource(KvConnector.class)
  void conversationsAreServedOverBothLegs(KvConnector connector) {
    serve(connector, Style.CONTEXT_FIRST);
  }

  @Test
  void trtllmCanBeginWithTheGeneration() {
    serve(KvConnector.TRTLLM, Style.GENERATION_FIRST);
  }

  private static void serve(KvConnector connector, Style style) {
    List<StandInServer> servers = new ArrayList<>();
    List<String> workers = new ArrayList<>();
    for (EngineRole role : List.of(EngineRole.PREFILL, EngineRole.DECODE)) {
      for (int i = 0; i < 2; i++) {
        // The stand-ins of NIXL's push have no side channel for each rank.
        int ranks = connector == KvConnector.NIXL_PUSH ? 1 : RANKS;
        StandInServer server = StandInServer.leg(role, connector, ranks);
        servers.add(server);
        workers.add(server.leg());
      }
    }
    try (TestGateway gateway = TestGateway.of(workers).disagg(apart(style)).start()) {
      for (int turn = 0; turn < 4; turn++) {
        for (int conversation = 0; conversation < 6; conversation++) {
          String id = "X-Session-ID: c" + conversation;
          Reply reply =
              gateway.post(COMPLETIONS, body(conversation, turn, conversation % 2 == 1), id);
          assertThat(reply.status()).as(reply.text()).isEqualTo(200);
          assertThat(reply.text()).doesNotContain("\"error\"");
        }
      }
      long received = 0;
      for (StandInServer server : servers) {
        Await.until("nothing is pinned", () -> idle(server.transfers()));
        received += server.transfers().path("received").asLong();
      }
      assertThat(received).isEqualTo(24);
    } finally {
      servers.forEach(StandInServer::close);
    }
  }

  private static boolean idle(JsonNode transfers) {
    return transfers.path("pinned_blocks").asInt(-1) == 0
        && transfers.path("arriving_blocks").asInt(-1) == 0
        && transfers.path("open").asInt(-1) == 0;
  }
}
