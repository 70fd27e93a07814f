package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Anthropic's messages over embedded ranks. */
class EmbeddedMessagesTest {

  private static final int BLOCK = 16;

  private final EmbeddedEngine engine =
      EmbeddedEngine.open(
          EmbeddedSettings.builder("words")
              .ranks(1)
              .tokensPerBlock(BLOCK)
              .poolTokens(4096)
              .speed(1e6)
              .build(),
          RankPools.Place.HOST);
  private final EngineClient client = new EngineClient(engine);

  @AfterEach
  void close() {
    engine.close();
    client.close();
  }

  private static String body(String more) {
    return "{'model':'words','max_tokens':300,'system':[{'type':'text','text':'Be brief.'}],"
        + "'messages':[{'role':'user','content':[{'type':'text','text':'"
        + "y".repeat(40)
        + "'}]}]"
        + more
        + "}";
  }

  @Test
  void aMessageHasContentAndUsage() {
    JsonNode message = client.post("/v1/messages", body("")).json();
    assertThat(message.path("type").asText()).isEqualTo("message");
    assertThat(message.path("role").asText()).isEqualTo("assistant");
    assertThat(message.at("/content/0/text").asText()).isNotEmpty();
    assertThat(message.path("stop_reason").asText()).isEqualTo("end_turn");
    assertThat(message.path("stop_sequence").isNull()).isTrue();
    int prompt =
        client.post("/v1/messages/count_tokens", body("")).json().path("input_tokens").asInt();
    assertThat(prompt)
        .isEqualTo("<|system|>\nBe brief.\n<|user|>\n\n<|assistant|>\n".length() + 40);
    assertThat(message.at("/usage/input_tokens").asInt()).isEqualTo(prompt);
    assertThat(message.at("/usage/cache_read_input_tokens").asInt()).isZero();

    JsonNode again = client.post("/v1/messages", body("")).json();
    int cached = (prompt - 1) / BLOCK * BLOCK;
    assertThat(again.at("/usage/cache_read_input_tokens").asInt()).isEqualTo(cached);
    assertThat(again.at("/usage/input_tokens").asInt()).isEqualTo(prompt - cached);
    assertThat(again.path("content")).isEqualTo(message.path("content"));
  }

  @Test
  void aStreamIsTheWholeMessage() {
    JsonNode whole = client.post("/v1/messages", body("")).json();
    Reply stream = client.post("/v1/messages", body(",'stream':true"));
    List<JsonNode> events = stream.events();
    assertThat(stream.text()).doesNotContain("[DONE]").startsWith("event: message_start\n");
    List<String> types = events.stream().map(event -> event.path("type").asText()).toList();
    assertThat(types).startsWith("message_start", "content_block_start", "content_block_delta");
    assertThat(types).endsWith("content_block_stop", "message_delta", "message_stop");
    StringBuilder text = new StringBuilder();
    events.forEach(event -> text.append(event.at("/delta/text").asText("")));
    assertThat(text.toString()).isEqualTo(whole.at("/content/0/text").asText());
    JsonNode delta = events.get(events.size() - 2);
    assertThat(delta.at("/delta/stop_reason").asText()).isEqualTo("end_turn");
    assertThat(delta.at("/usage/output_tokens")).isEqualTo(whole.at("/usage/output_tokens"));
    assertThat(events.get(0).at("/message/usage/cache_read_input_tokens").asInt()).isPositive();
  }

  @Test
  void stopReasonsNameTheCause() {
    String text = client.post("/v1/messages", body("")).json().at("/content/0/text").asText();
    String word = text.substring(text.indexOf(' ') + 1).replaceAll(" .*", "");
    JsonNode stopped =
        client.post("/v1/messages", body(",'stop_sequences':['" + word + "']")).json();
    assertThat(stopped.path("stop_reason").asText()).isEqualTo("stop_sequence");
    assertThat(stopped.path("stop_sequence").asText()).isEqualTo(word);
    JsonNode cut =
        client.post("/v1/messages", body("").replace("'max_tokens':300", "'max_tokens':2")).json();
    assertThat(cut.path("stop_reason").asText()).isEqualTo("max_tokens");
  }
}
