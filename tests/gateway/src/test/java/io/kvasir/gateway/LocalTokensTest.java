package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EmbeddedEngine;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.gateway.RawClient.Reply;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Policies that follow tokens work over workers of this process, which tokenise for the gateway.
 */
class LocalTokensTest {

  private static final int BLOCK = 32;
  private static final int CONVERSATIONS = 4;

  private static LocalWorker worker(String name) {
    EmbeddedSettings settings =
        EmbeddedSettings.builder("words")
            .ranks(1)
            .tokensPerBlock(BLOCK)
            .poolTokens(1 << 16)
            .speed(1e6)
            .build();
    return new LocalWorker(name, EmbeddedEngine.open(settings, RankPools.Place.HOST));
  }

  private static TestGateway gateway(String router) {
    return TestGateway.of().router(router).local(List.of(worker("a"), worker("b"))).start();
  }

  private static String chat(String messages) {
    return "{\"model\":\"words\",\"max_tokens\":4,\"messages\":[" + messages + "]}";
  }

  private static String message(String role, String content) {
    return "{\"role\":\"" + role + "\",\"content\":\"" + content + "\"}";
  }

  @Test
  void aPrefixIsFoundWhereItWasPlaced() {
    try (TestGateway gateway = gateway("approximate")) {
      String[] histories = new String[CONVERSATIONS];
      String[] workers = new String[CONVERSATIONS];
      for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < CONVERSATIONS; i++) {
          String question = message("user", ("conversation " + i + " turn " + turn).repeat(20));
          histories[i] = turn == 0 ? question : histories[i] + "," + question;
          Reply reply = gateway.post(CHAT, chat(histories[i]));
          assertThat(reply.status()).as(reply.text()).isEqualTo(200);
          JsonNode line = gateway.logLine();
          int prompt = line.path("prompt_tokens").asInt();
          int matched = line.path("matched_tokens").asInt();
          if (turn == 0) {
            workers[i] = line.path("worker_id").asText();
            assertThat(matched).isZero();
          } else {
            assertThat(line.path("worker_id").asText()).isEqualTo(workers[i]);
            // the router's tokens are those that the rank computes and finds again
            assertThat(matched).isEqualTo(line.path("cached_tokens").asInt()).isPositive();
            assertThat(matched).isLessThan(prompt);
          }
          String answer = reply.json().at("/choices/0/message/content").asText();
          histories[i] += "," + message("assistant", answer);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"approximate", "cost", "kv_cache_aware", "polled", "projected"})
  void everyEndpointAndFormOfPromptIsServed(String router) {
    try (TestGateway gateway = gateway(router)) {
      String model = "{\"model\":\"words\",\"max_tokens\":2,";
      for (String[] request :
          new String[][] {
            {CHAT, chat(message("user", "Hi"))},
            {"/v1/completions", model + "\"prompt\":\"Once\"}"},
            {"/v1/completions", model + "\"prompt\":[\"Once\",\"Twice\"]}"},
            {"/v1/completions", model + "\"prompt\":[1,2,3]}"},
            {"/v1/completions", model + "\"prompt\":[[1,2],[3]]}"},
            {
              "/v1/messages",
              model + "\"system\":\"Be.\",\"messages\":[" + message("user", "Hi") + "]}"
            },
            {"/v1/responses", "{\"model\":\"words\",\"input\":\"Hi\"}"},
          }) {
        Reply reply = gateway.post(request[0], request[1]);
        assertThat(reply.status()).as(request[1] + " " + reply.text()).isEqualTo(200);
      }
    }
  }

  @Test
  void aPromptThatCannotBeTokenisedGetsTheWorkersError() {
    try (TestGateway gateway = gateway("approximate")) {
      Reply reply = gateway.post(CHAT, chat("{\"content\":\"no role\"}"));
      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.text()).contains("messages[0].role");
      Reply empty = gateway.post("/v1/completions", "{\"model\":\"words\",\"prompt\":[]}");
      assertThat(empty.status()).isEqualTo(400);
      assertThat(empty.text()).contains("prompt");
    }
  }
}
