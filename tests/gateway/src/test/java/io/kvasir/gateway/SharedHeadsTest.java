package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The router that is chosen where engines publish no block events: requests that share only their
 * beginning are spread, conversations stay, and the engine is asked for no tokens.
 */
class SharedHeadsTest {

  private static final int WORKERS = 4;
  private static final int REQUESTS = 64;
  private static final String INSTRUCTION = "Answer from the list of orders. ".repeat(80);

  private static String bodyOf(String kind, int i) {
    return switch (kind) {
      case "chat" ->
          chat("{\"role\":\"system\",\"content\":\"" + INSTRUCTION + "\"}," + user("Order " + i));
      case "picture" ->
          chat(
              "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\""
                  + INSTRUCTION
                  + "\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:"
                  + i
                  + "\"}}]}");
      case "completion" -> "{\"model\":\"m\",\"prompt\":\"" + INSTRUCTION + i + "\"}";
      case "messages" ->
          "{\"model\":\"m\",\"max_tokens\":9,\"tools\":[{}],\"system\":\""
              + INSTRUCTION
              + "\",\"messages\":["
              + user("Order " + i)
              + "]}";
      default -> throw new AssertionError(kind);
    };
  }

  private static String pathOf(String kind) {
    return switch (kind) {
      case "completion" -> "/v1/completions";
      case "messages" -> "/v1/messages";
      default -> CHAT;
    };
  }

  private static String chat(String messages) {
    return "{\"model\":\"m\",\"messages\":[" + messages + "]}";
  }

  private static String user(String text) {
    return message("user", text);
  }

  private static String message(String role, String text) {
    return "{\"role\":\"" + role + "\",\"content\":\"" + text + "\"}";
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "picture", "completion", "messages"})
  void aBurstBehindOneInstructionIsSpread(String kind) {
    CountDownLatch go = new CountDownLatch(1);
    List<ScriptedEngine> engines =
        IntStream.range(0, WORKERS)
            .mapToObj(
                i ->
                    ScriptedEngine.start(
                        (request, link) -> {
                          Await.opened("the signal to go on", go);
                          EngineLink.answer(request, link);
                        }))
            .toList();
    try (TestGateway gateway =
        TestGateway.of(engines.toArray(ScriptedEngine[]::new))
            .router(GatewaySettings.AUTO)
            .start()) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        clients.add(gateway.client().send(RawClient.post(pathOf(kind), bodyOf(kind, i))));
      }
      Await.until(() -> engines.stream().mapToInt(ScriptedEngine::received).sum() == REQUESTS);
      go.countDown();
      Map<String, Integer> spread = new HashMap<>();
      for (RawClient client : clients) {
        Reply reply = client.reply();
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        spread.merge(reply.field("x-kvasir-worker"), 1, Integer::sum);
        client.close();
      }
      assertThat(spread.values())
          .as("%s", spread)
          .hasSize(WORKERS)
          .allMatch(count -> count >= REQUESTS / WORKERS / 2);
    } finally {
      engines.forEach(ScriptedEngine::close);
    }
  }

  /** The questions of others in between, and an id that a proxy gives to each request. */
  @ParameterizedTest
  @ValueSource(strings = {CHAT, "/v1/messages", "/v1/responses"})
  void conversationsStayOnTheirWorker(String path) {
    List<ScriptedEngine> engines =
        IntStream.range(0, WORKERS).mapToObj(i -> ScriptedEngine.good()).toList();
    try (TestGateway gateway =
        TestGateway.of(engines.toArray(ScriptedEngine[]::new))
            .router(GatewaySettings.AUTO)
            .start()) {
      String list = path.endsWith("responses") ? "input" : "messages";
      for (int conversation = 0; conversation < 4; conversation++) {
        StringBuilder messages =
            new StringBuilder(
                user("Conversation " + conversation + ". " + "A beginning. ".repeat(60)));
        String home = null;
        for (int turn = 0; turn < 5; turn++) {
          Reply reply =
              gateway.post(
                  path,
                  "{\"model\":\"m\",\"tools\":[{}],\"" + list + "\":[" + messages + "]}",
                  "X-Correlation-ID: " + conversation + "-" + turn);
          assertThat(reply.status()).as(reply.text()).isEqualTo(200);
          String worker = reply.field("x-kvasir-worker");
          assertThat(worker).as("turn %d", turn).isEqualTo(home == null ? worker : home);
          home = worker;
          gateway.post(CHAT, chat(user("Another question, " + turn)));
          messages.append(',').append(message("assistant", "one two"));
          messages.append(',').append(user("Go on, " + turn + "."));
        }
      }
    } finally {
      engines.forEach(ScriptedEngine::close);
    }
  }

  @Test
  void shortConversationsWithAnIdStayToo() {
    List<ScriptedEngine> engines =
        IntStream.range(0, WORKERS).mapToObj(i -> ScriptedEngine.good()).toList();
    try (TestGateway gateway =
        TestGateway.of(engines.toArray(ScriptedEngine[]::new))
            .router(GatewaySettings.AUTO)
            .start()) {
      for (int conversation = 0; conversation < 6; conversation++) {
        String field = "X-Session-ID: c" + conversation;
        String home = gateway.post(CHAT, TestGateway.ASK, field).field("x-kvasir-worker");
        for (int turn = 0; turn < 4; turn++) {
          Reply reply = gateway.post(CHAT, TestGateway.ASK, field);
          assertThat(reply.field("x-kvasir-worker")).isEqualTo(home);
        }
      }
    } finally {
      engines.forEach(ScriptedEngine::close);
    }
  }
}
