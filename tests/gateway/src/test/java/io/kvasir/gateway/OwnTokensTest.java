package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tokens that the gateway makes itself count where they are those of the engine. */
class OwnTokensTest {

  private static final String MODEL = StandInServer.MODEL;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int FIRST = 8; // made both ways

  private final Random random = new Random(35);

  private String words() {
    StringBuilder words = new StringBuilder();
    random.ints(60, 0, 1_000).forEach(word -> words.append("word").append(word).append(' '));
    return words.toString();
  }

  private void ask(TestGateway gateway) {
    String body =
        "{\"model\":\"%s\",\"max_tokens\":4,\"tools\":[{\"name\":\"t\",\"input_schema\":{}}],"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}";
    RawClient.Reply reply = gateway.post("/v1/messages", body.formatted(MODEL, words()));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }

  private static JsonNode ranks(TestGateway gateway) {
    try {
      return JSON.readTree(gateway.admin("/kvasir/ranks").text()).path(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int different(TestGateway gateway) {
    return ranks(gateway).at("/own_tokens/0/different_requests").asInt();
  }

  private static TestGateway gateway(StandInServer engine, ModelTokens tokens) {
    return TestGateway.of(List.of(engine.worker())).router("cost").tokens(MODEL, tokens).start();
  }

  @Test
  void anEngineThatAgreesIsNoLongerAsked() {
    try (StandInServer renderer = StandInServer.rendering(1)) {
      BorrowedTokens tokens = new BorrowedTokens(renderer, "/v1/messages", "/v1/chat/completions");
      AtomicInteger questions = new AtomicInteger();
      ScriptedEngine.Script engine =
          (request, link) -> {
            if (request.target().endsWith("/render")) {
              questions.incrementAndGet();
              link.json(
                  200,
                  renderer.ask(request.target(), BorrowedTokens.named(request.text())).toString());
            } else {
              EngineLink.answer(request, link);
            }
          };
      try (ScriptedEngine vllm = ScriptedEngine.start(engine);
          TestGateway gateway =
              TestGateway.of(List.of("http://" + vllm.name()))
                  .router("approximate")
                  .tokens("m", tokens)
                  .start()) {
        for (int i = 1; i <= FIRST; i++) {
          chat(gateway);
          int compared = i;
          Await.until("a comparison", () -> equal(gateway) == compared);
        }
        for (int i = 0; i < 20; i++) {
          chat(gateway);
        }
        assertThat(questions).hasValue(FIRST + 1); // a sample among the others
        assertThat(tokens.made).hasValue(FIRST + 20);
        assertThat(gateway.metric("kvasir_own_tokens_refused")).isZero();
      }
    }
  }

  private void chat(TestGateway gateway) {
    String body = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}";
    assertThat(gateway.post("/v1/chat/completions", body.formatted(words())).status())
        .isEqualTo(200);
  }

  private static int equal(TestGateway gateway) {
    return ranks(gateway).at("/own_tokens/0/equal_requests").asInt();
  }

  /** Sends the requests that are made both ways, each after the one before was compared. */
  private void agree(TestGateway gateway) {
    for (int i = 1; i <= FIRST; i++) {
      ask(gateway);
      int compared = i;
      Await.until("a comparison", () -> equal(gateway) == compared);
    }
  }

  @Test
  void whatCannotBeMadeHereIsAskedOfTheEngine() {
    try (StandInServer engine = StandInServer.rendering(1);
        StandInServer renderer = StandInServer.rendering(1)) {
      BorrowedTokens tokens = new BorrowedTokens(renderer, "/v1/messages", "/v1/chat/completions");
      try (TestGateway gateway = gateway(engine, tokens)) {
        agree(gateway);
        tokens.unclear = true;
        ask(gateway);
        tokens.unclear = false;
        tokens.full = true;
        ask(gateway);
        assertThat(gateway.metric("kvasir_placed_prompts_total", "estimated")).isZero();
      }
    }
  }

  @Test
  void differencesAreNamedAndTheEngineAsked() {
    try (StandInServer engine = StandInServer.rendering(1);
        StandInServer renderer = StandInServer.rendering(1)) {
      BorrowedTokens tokens = new BorrowedTokens(renderer, "/v1/messages", "/v1/chat/completions");
      tokens.wrongFrom = 20;
      try (TestGateway gateway = gateway(engine, tokens)) {
        ask(gateway);
        Await.until("a difference", () -> different(gateway) == 1);
        assertThat(gateway.metric("kvasir_own_tokens_refused")).isZero(); // one client can send it
        for (int i = 2; i <= 3; i++) {
          int compared = i;
          ask(gateway);
          Await.until("a difference", () -> different(gateway) == compared);
        }
        ask(gateway);
        assertThat(ranks(gateway).at("/own_tokens/0/differs_at").asText())
            .startsWith("token 20 of ")
            .endsWith(", in segment 0");
        assertThat(tokens.made).hasValue(3);
        assertThat(gateway.metric("kvasir_own_tokens_refused")).isEqualTo(1);
        Await.until( // the engine's, once its events are followed
            "exact tokens", () -> gateway.metric("kvasir_routing_exactness") == 1);
      }
    }
  }

  /** Of a prompt with an image, the tokens up to it are compared. */
  @Test
  void whatStandsForAnImageIsNotCompared() {
    try (StandInServer engine = StandInServer.rendering(1);
        StandInServer renderer = StandInServer.rendering(1)) {
      BorrowedTokens tokens = new BorrowedTokens(renderer, "/v1/messages", "/v1/chat/completions");
      tokens.exact = 20;
      tokens.wrongFrom = 20;
      try (TestGateway gateway = gateway(engine, tokens)) {
        for (int i = 0; i < 4; i++) {
          ask(gateway);
        }
        Await.until("tokens that are wrong from 20 on", () -> tokens.made.get() == 4);
        tokens.wrongFrom = 19;
        ask(gateway);
        Await.until("a difference", () -> different(gateway) == 1);
        assertThat(equal(gateway)).isZero();
        assertThat(ranks(gateway).at("/own_tokens/0/differs_at").asText()).startsWith("token 19 ");
      }
    }
  }

  @Test
  void withoutAnEngineToAskItsOwnTokensCount() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 2);
        StandInServer renderer = StandInServer.rendering(1)) {
      BorrowedTokens tokens = new BorrowedTokens(renderer, "/v1/messages", "/v1/chat/completions");
      try (TestGateway gateway = gateway(engine, tokens)) {
        for (int i = 0; i < 20; i++) {
          ask(gateway);
        }
        Await.until("exact tokens", () -> gateway.metric("kvasir_routing_exactness") == 1);
        assertThat(ranks(gateway).at("/own_tokens/0/equal_requests").asInt()).isZero();

        tokens.full = true;
        ask(gateway);
        assertThat(gateway.metric("kvasir_placed_prompts_total", "estimated")).isEqualTo(1);
      }
    }
  }

  @Test
  void tokensThatDoNotComeAreNotWaitedForLong() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        StandInServer renderer = StandInServer.rendering(1)) {
      BorrowedTokens tokens = new BorrowedTokens(renderer, "/v1/messages", "/v1/chat/completions");
      tokens.silent = true;
      try (TestGateway gateway =
          TestGateway.of(List.of(engine.worker()))
              .router("cost")
              .tokens(MODEL, tokens)
              .tokensTimeoutMs(100)
              .start()) {
        ask(gateway);
        assertThat(gateway.metric("kvasir_placed_prompts_total", "estimated")).isEqualTo(1);
      }
    }
  }
}
