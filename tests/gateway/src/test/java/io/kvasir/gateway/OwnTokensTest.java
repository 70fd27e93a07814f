package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.tokens.ModelTokens;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tokens that the gateway makes itself count where they are those of the engine. */
class OwnTokensTest {

  private static final String MODEL = StandInServer.MODEL;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int FIRST = 8; // made both ways

  /** Tokens as another engine of the model makes them, changed from a position on. */
  private static final class Borrowed implements ModelTokens {

    private final StandInServer renderer;
    private final AtomicInteger made = new AtomicInteger();
    private volatile int wrongFrom = Integer.MAX_VALUE;
    private volatile boolean full;
    private volatile boolean silent;

    Borrowed(StandInServer renderer) {
      this.renderer = renderer;
    }

    @Override
    public String name() {
      return "a borrowed tokenizer";
    }

    @Override
    public boolean serves(String path) {
      return path.equals("/v1/messages") || path.equals("/v1/chat/completions");
    }

    @Override
    public boolean make(String path, byte[] body, Consumer<int @Nullable []> then) {
      if (full) {
        return false;
      }
      Thread thread =
          new Thread(
              () -> {
                int[] tokens =
                    tokens(
                        renderer.ask(path + "/render", new String(body, StandardCharsets.UTF_8)));
                for (int i = wrongFrom; i < tokens.length; i++) {
                  tokens[i] += 1_000;
                }
                made.incrementAndGet();
                if (!silent) {
                  then.accept(tokens);
                }
              });
      thread.start();
      return true;
    }

    private static int[] tokens(JsonNode reply) {
      JsonNode ids = reply.has("token_ids") ? reply.get("token_ids") : reply.get("tokens");
      return StreamSupport.stream(ids.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
    }

    @Override
    public String place(int[] tokens, int at) {
      return "segment 0";
    }

    @Override
    public void close() {}
  }

  private final Random random = new Random(35);

  private void ask(TestGateway gateway) {
    StringBuilder words = new StringBuilder();
    random.ints(60, 0, 1_000).forEach(word -> words.append("word").append(word).append(' '));
    String body =
        "{\"model\":\"%s\",\"max_tokens\":4,\"tools\":[{\"name\":\"t\",\"input_schema\":{}}],"
            + "\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}";
    RawClient.Reply reply = gateway.post("/v1/messages", body.formatted(MODEL, words));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }

  private static JsonNode ranks(TestGateway gateway) {
    try {
      return JSON.readTree(gateway.admin("/kvasir/ranks").text()).path(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static TestGateway gateway(StandInServer engine, ModelTokens tokens) {
    return TestGateway.of(List.of(engine.worker())).router("cost").tokens(MODEL, tokens).start();
  }

  @Test
  void anEngineThatAgreesIsNoLongerAsked() {
    try (StandInServer engine = StandInServer.rendering(1);
        StandInServer renderer = StandInServer.rendering(1)) {
      Borrowed tokens = new Borrowed(renderer);
      try (TestGateway gateway = gateway(engine, tokens)) {
        for (int i = 0; i < 30; i++) {
          ask(gateway);
        }
        assertThat(tokens.made).hasValue(30);
        JsonNode parity = ranks(gateway).at("/own_tokens/0");
        assertThat(parity.get("path").asText()).isEqualTo("/v1/messages");
        assertThat(parity.get("equal_requests").asInt()).isBetween(FIRST, FIRST + 1);
        assertThat(gateway.metric("kvasir_own_tokens_refused")).isZero();
        assertThat(gateway.metric("kvasir_routing_exactness")).isEqualTo(1);
      }
    }
  }

  @Test
  void aDifferenceIsNamedAndTheEngineAsked() {
    try (StandInServer engine = StandInServer.rendering(1);
        StandInServer renderer = StandInServer.rendering(1)) {
      Borrowed tokens = new Borrowed(renderer);
      tokens.wrongFrom = 20;
      try (TestGateway gateway = gateway(engine, tokens)) {
        for (int i = 0; i < 20; i++) {
          ask(gateway);
        }
        assertThat(ranks(gateway).at("/own_tokens/0/differs_at").asText())
            .startsWith("token 20 of ")
            .endsWith(", in segment 0");
        assertThat(tokens.made.get()).isLessThan(20);
        assertThat(gateway.metric("kvasir_own_tokens_refused")).isEqualTo(1);
        assertThat(gateway.metric("kvasir_routing_exactness")).isEqualTo(1); // the engine's
      }
    }
  }

  @Test
  void withoutAnEngineToAskItsOwnTokensCount() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 2);
        StandInServer renderer = StandInServer.rendering(1)) {
      Borrowed tokens = new Borrowed(renderer);
      try (TestGateway gateway = gateway(engine, tokens)) {
        for (int i = 0; i < 20; i++) {
          ask(gateway);
        }
        assertThat(gateway.metric("kvasir_routing_exactness")).isEqualTo(1);
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
      Borrowed tokens = new Borrowed(renderer);
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
