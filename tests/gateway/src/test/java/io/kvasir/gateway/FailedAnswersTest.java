package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Answers that prove nothing about their engine. */
class FailedAnswersTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PATH = "/v1/completions";
  private static final String ASK =
      IntStream.range(0, 40)
          .mapToObj(Integer::toString)
          .collect(Collectors.joining(",", "{\"model\":\"m\",\"stream\":true,\"prompt\":[", "]}"));

  private static ScriptedEngine.Script streams(String error) {
    return (request, link) -> {
      link.stream();
      link.token("Hello");
      if (!error.isEmpty()) {
        link.event("{\"error\":{\"message\":\"no\",\"code\":" + error + "}}");
      }
      link.event(
          "{\"choices\":[],\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":1,"
              + "\"prompt_tokens_details\":{\"cached_tokens\":16}}}");
      link.endStream();
    };
  }

  private static JsonNode hits(TestGateway gateway) {
    try {
      return JSON.readTree(gateway.admin("/kvasir/ranks").text())
          .at("/0/ranks/0/predicted_hits/requests");
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anAnswerWithAnErrorIsNoEvidence() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(
                    List.of("http://" + engine.name() + ",block_size=16,events=tcp://127.0.0.1:1"))
                .router("cost")
                .start()) {
      for (String error : List.of("400", "500")) {
        engine.script(streams(error));
        assertThat(gateway.post(PATH, ASK).status()).isEqualTo(200);
        gateway.logLine();
        assertThat(hits(gateway).asInt(-1)).as("after an error %s", error).isZero();
      }
      engine.script(streams(""));
      assertThat(gateway.post(PATH, ASK).status()).isEqualTo(200);
      gateway.logLine();
      assertThat(hits(gateway).asInt(-1)).isEqualTo(1);
    }
  }
}
