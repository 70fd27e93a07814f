package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The vectors of conditional disaggregation on the wire of each protocol: three decode workers, of
 * which two hold as much of the prompt as the vector says, and one holds nothing. SGLang's decode
 * workers compute no prompts, so they always need a prefill worker.
 */
class NeedsContextWireTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String COMPLETIONS = "/v1/completions";
  private static final int LARGEST_BLOCK = 64;

  @TestFactory
  Stream<DynamicTest> vectors() throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode all = JSON.readTree(root.resolve("tests/vectors/serve-routers.json").toFile());
    return StreamSupport.stream(all.get("needsContext").spliterator(), false)
        // No pool holds more whole blocks than a prompt has.
        .filter(each -> each.path("matchLength").asInt() <= each.path("promptTokens").asInt())
        .flatMap(
            each ->
                Stream.concat(
                    Arrays.stream(KvConnector.values())
                        .map(connector -> test(each, connector, Style.CONTEXT_FIRST)),
                    Stream.of(test(each, KvConnector.TRTLLM, Style.GENERATION_FIRST))));
  }

  private static DynamicTest test(JsonNode vector, KvConnector connector, Style style) {
    String name = vector.path("id").asText() + ", " + connector.id() + ", " + style;
    return DynamicTest.dynamicTest(name, () -> check(vector, connector, style));
  }

  /** A prompt of as many equal tokens. */
  private static String ask(int promptTokens, int tokens) {
    return "{\"model\":\"words\",\"max_tokens\":"
        + tokens
        + ",\"prompt\":"
        + Collections.nCopies(promptTokens, 112)
        + "}";
  }

  private static StandInServer leg(EngineRole role, KvConnector connector, int block) {
    return StandInServer.leg(RoleSettings.builder(role, connector).build(), 1, block);
  }

  private static void check(JsonNode vector, KvConnector connector, Style style) {
    boolean computes = connector != KvConnector.BOOTSTRAP;
    int matched = computes ? vector.path("matchLength").asInt() : 0;
    int prompt = vector.path("promptTokens").asInt();
    int block = matched == 0 ? LARGEST_BLOCK : Math.min(LARGEST_BLOCK, matched);
    // Eight tokens save so little time that another policy may choose a rank without them.
    RouterChoice byMatch = new RouterChoice("cost", Map.of());
    DisaggSettings settings =
        new DisaggSettings(
            style,
            vector.path("limit").asLong(),
            1,
            null,
            byMatch,
            byMatch,
            Await.limitMs(),
            false,
            false);
    List<StandInServer> servers = new ArrayList<>();
    try {
      servers.add(leg(EngineRole.PREFILL, connector, block));
      for (int i = 0; i < 3; i++) {
        servers.add(leg(EngineRole.DECODE, connector, block));
        if (matched > 0 && i < 2) {
          servers.get(i + 1).post(COMPLETIONS, ask(matched, 1));
        }
      }
      List<String> workers = servers.stream().map(StandInServer::leg).toList();
      try (TestGateway gateway = TestGateway.of(workers).disagg(settings).start()) {
        Await.until(
            "the blocks that ranks hold are known",
            () -> {
              try (RawClient client = RawClient.to(gateway.gateway().adminPort())) {
                String explain = "/kvasir/explain?path=" + COMPLETIONS;
                client.send(RawClient.post(explain, ask(prompt, 2)));
                JsonNode choices = client.reply().json();
                // The rule reads that of a whole request.
                return (computes ? Stream.of("decode", "whole") : Stream.of("decode"))
                    .map(each -> choices.path(each).at("/choice/matched_tokens"))
                    .allMatch(each -> each.asInt(-1) == matched);
              }
            });
        var reply = gateway.post(COMPLETIONS, ask(prompt, 2));
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        boolean needed = !computes || vector.path("expected").asBoolean();
        assertThat(servers.get(0).transfers().path("sent").asInt()).isEqualTo(needed ? 1 : 0);
        assertThat(gateway.metric("kvasir_local_prefills_total", "reason=\"short\""))
            .isEqualTo(needed ? 0 : 1);
        assertThat(reply.json().at("/usage/prompt_tokens").asInt()).isEqualTo(prompt);
      }
    } finally {
      servers.forEach(StandInServer::close);
    }
  }
}
