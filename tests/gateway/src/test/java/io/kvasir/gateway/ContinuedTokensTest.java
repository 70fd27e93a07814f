package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.gateway.ScriptedEngine.Script;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The tokens of requests that continue a stored response: those of the whole conversation. */
class ContinuedTokensTest {

  private static final String RESPONSES = "/v1/responses";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String OUTPUT =
      "[{\"type\":\"reasoning\",\"content\":[{\"text\":\"Hm\"}]},"
          + "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"A\\n%1$d\"},"
          + "{\"type\":\"output_text\",\"text\":\"B\"}]},{\"type\":\"function_call\"}]";

  private final BlockingQueue<String> rendered = new LinkedBlockingQueue<>();

  /** Renders, and answers with the responses resp_1, resp_2 and so on, of a status. */
  private Script answers(String status) {
    AtomicInteger made = new AtomicInteger();
    return (request, link) -> {
      if (request.target().equals(RESPONSES + "/render")) {
        rendered.add(request.text());
        link.json(200, "{\"token_ids\":[1,2,3]}");
      } else if (request.target().equals(RESPONSES)) {
        int number = made.incrementAndGet();
        String response =
            "{\"id\":\"resp_%1$d\",\"status\":\"%2$s\",\"output\":%3$s}"
                .formatted(number, status, OUTPUT.formatted(number));
        if (request.text().contains("\"stream\":true")) {
          String begun = response.replaceFirst("\"status.*", "\"output\":[]}");
          link.stream();
          link.event("{\"type\":\"response.created\",\"response\":" + begun + "}");
          link.event("{\"type\":\"response.completed\",\"response\":" + response + "}");
          link.endStream();
        } else {
          link.json(200, response);
        }
      } else {
        link.json(404, "{}");
      }
    };
  }

  private static void ask(TestGateway gateway, String fields) {
    RawClient.Reply reply = gateway.post(RESPONSES, "{\"model\":\"m\"," + fields + "}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }

  private static TestGateway gateway(ScriptedEngine engine) {
    return TestGateway.of(List.of("http://" + engine.name())).router("approximate").start();
  }

  @Test
  void theWholeConversationIsRendered() {
    try (ScriptedEngine engine = ScriptedEngine.start(answers("completed"));
        TestGateway gateway = gateway(engine)) {
      ask(
          gateway,
          "\"instructions\":\"Be short\",\"input\":[{\"role\":\"system\",\"content\":\"S\"},"
              + "{\"role\":\"user\",\"content\":\"one\"}]");
      ask(gateway, "\"stream\":true,\"previous_response_id\":\"resp_1\",\"input\":\"two\"");
      ask(
          gateway,
          "\"instructions\":\"Be long\",\"previous_response_id\":\"resp_2\","
              + "\"input\":[{\"type\":\"function_call_output\",\"output\":\"3\"},"
              + "{\"role\":\"system\",\"content\":\"T\"}]");
      rendered.remove();
      String first =
          "{\"role\":\"user\",\"content\":\"one\"},{\"role\":\"assistant\",\"content\":\"A\\n1\"},"
              + "{\"role\":\"assistant\",\"content\":\"B\"},{\"role\":\"user\",\"content\":\"two\"}";
      assertThat(rendered.remove()).isEqualTo("{\"model\":\"m\",\"input\":[" + first + "]}");
      String second =
          "{\"role\":\"assistant\",\"content\":\"A\\n2\"},"
              + "{\"role\":\"assistant\",\"content\":\"B\"},"
              + "{\"type\":\"function_call_output\",\"output\":\"3\"},"
              + "{\"role\":\"system\",\"content\":\"T\"}";
      assertThat(rendered.remove())
          .isEqualTo(
              "{\"model\":\"m\",\"instructions\":\"Be long\",\"input\":["
                  + first
                  + ","
                  + second
                  + "]}");
    }
  }

  @Test
  void aConversationThatIsNotKnownIsNotRendered() {
    try (ScriptedEngine engine = ScriptedEngine.start(answers("completed"));
        TestGateway gateway = gateway(engine)) {
      String next = "\"input\":\"two\",\"previous_response_id\":\"resp_%s\"";
      ask(gateway, next.formatted("of_another_gateway")); // resp_1
      ask(gateway, next.formatted("1"));
      ask(gateway, "\"store\":false,\"input\":\"one\""); // resp_3
      ask(gateway, next.formatted("3"));
      ask(gateway, "\"input\":\"one\""); // resp_5
      ask(
          gateway,
          "\"previous_response_id\":\"resp_5\",\"input\":[{\"type\":\"function_call\"},"
              + "{\"type\":\"function_call_output\",\"output\":\"3\"}]");
      assertThat(rendered).hasSize(2).allMatch(body -> body.contains("\"one\""));
    }
    rendered.clear();
    try (ScriptedEngine engine = ScriptedEngine.start(answers("queued"));
        TestGateway gateway = gateway(engine)) {
      ask(gateway, "\"background\":true,\"input\":\"one\"");
      ask(gateway, "\"previous_response_id\":\"resp_1\",\"input\":\"two\"");
      assertThat(rendered).as("the answer was not there").hasSize(1);
    }
  }

  private static ObjectNode body(int turn, String previous) {
    ObjectNode body = JSON.createObjectNode().put("model", StandInServer.MODEL);
    body.put("max_output_tokens", 8).put("stream", turn % 2 == 1);
    body.put("input", ("turn " + turn + " has words ").repeat(20));
    return previous == null ? body : body.put("previous_response_id", previous);
  }

  /** The response of an answer, or of the last event of a stream. */
  private static JsonNode response(RawClient.Reply reply) throws IOException {
    String text = reply.text();
    int last = text.lastIndexOf("data: {");
    JsonNode read = JSON.readTree(last < 0 ? text : text.substring(last + "data: ".length()));
    return read.path("response").isMissingNode() ? read : read.get("response");
  }

  @Test
  void whatAContinuedRequestMatchesIsWhatTheEngineHasCached() throws IOException {
    try (StandInServer engine = StandInServer.rendering(1);
        TestGateway gateway = TestGateway.of(List.of(engine.worker())).router("cost").start()) {
      Await.until(
          "live ranks", () -> gateway.admin("/kvasir/ranks").text().contains("\"state\":\"live\""));
      String previous = null;
      for (int turn = 0; turn < 6; turn++) {
        RawClient.Reply reply = gateway.post(RESPONSES, body(turn, previous).toString());
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        JsonNode response = response(reply);
        int cached = response.at("/usage/input_tokens_details/cached_tokens").asInt();
        assertThat(cached).isGreaterThanOrEqualTo(turn * 2 * StandInServer.BLOCK);
        assertThat(reply.field("x-kvasir-matched-tokens")).isEqualTo("" + cached);
        previous = response.get("id").asText();
      }
    }
  }
}
