package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.Headers;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Responses over embedded ranks. */
class EmbeddedResponsesTest {

  private static final String PATH = "/v1/responses";
  private static final int BLOCK = 16;

  private final EmbeddedEngine engine =
      EmbeddedEngine.open(
          EmbeddedSettings.builder("words")
              .ranks(1)
              .tokensPerBlock(BLOCK)
              .poolTokens(4096)
              .speed(1e6)
              .responseStoreBytes(8000)
              .build(),
          RankPools.Place.HOST);
  private final EngineClient client = new EngineClient(engine);

  @AfterEach
  void close() {
    engine.close();
    client.close();
  }

  private static String text(JsonNode response) {
    return response.at("/output/0/content/0/text").asText();
  }

  @Test
  void aResponseContinuesTheStoredOne() {
    String instructions = "'instructions':'" + "z".repeat(50) + "'";
    JsonNode first =
        client.post(PATH, "{" + instructions + ",'input':'One','max_output_tokens':300}").json();
    assertThat(first.path("object").asText()).isEqualTo("response");
    assertThat(first.path("status").asText()).isEqualTo("completed");
    assertThat(first.at("/output/0/type").asText()).isEqualTo("message");
    assertThat(first.at("/usage/input_tokens_details/cached_tokens").asInt()).isZero();
    String second =
        "{"
            + instructions
            + ",'input':[{'role':'user','content':[{'type':'input_text','text':'Two'}]}],"
            + "'previous_response_id':'"
            + first.path("id").asText()
            + "'}";
    JsonNode next = client.post(PATH, second).json();
    String prompt =
        "<|system|>\n"
            + "z".repeat(50)
            + "\n<|user|>\nOne\n<|assistant|>\n"
            + text(first)
            + "\n<|user|>\nTwo\n<|assistant|>\n";
    assertThat(next.at("/usage/input_tokens").asInt()).isEqualTo(prompt.length());
    assertThat(next.at("/usage/input_tokens_details/cached_tokens").asInt())
        .isEqualTo(first.at("/usage/input_tokens").asInt() / BLOCK * BLOCK);
  }

  @Test
  void aStreamIsTheWholeResponse() {
    String body = "{'input':'Stream','max_output_tokens':300";
    JsonNode whole = client.post(PATH, body + "}").json();
    Reply stream = client.post(PATH, body + ",'stream':true}");
    List<JsonNode> events = stream.events();
    List<String> types = events.stream().map(event -> event.path("type").asText()).toList();
    assertThat(types)
        .startsWith(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta")
        .endsWith(
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed");
    assertThat(stream.text()).doesNotContain("[DONE]").contains("event: response.completed\n");
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < events.size(); i++) {
      assertThat(events.get(i).path("sequence_number").asInt()).isEqualTo(i);
      text.append(events.get(i).path("delta").asText(""));
    }
    assertThat(text.toString()).isEqualTo(text(whole));
    JsonNode last = events.get(events.size() - 1).path("response");
    assertThat(text(last)).isEqualTo(text(whole));
    assertThat(client.get(PATH + "/" + last.path("id").asText()).json()).isEqualTo(last);
  }

  @Test
  void aResponseAtItsMaximumIsIncomplete() {
    JsonNode cut = client.post(PATH, "{'input':'Cut','max_output_tokens':2}").json();
    assertThat(cut.path("status").asText()).isEqualTo("incomplete");
    assertThat(cut.at("/incomplete_details/reason").asText()).isEqualTo("max_output_tokens");
    List<JsonNode> events =
        client.post(PATH, "{'input':'Cut','max_output_tokens':2,'stream':true}").events();
    assertThat(events.get(events.size() - 1).path("type").asText())
        .isEqualTo("response.incomplete");
  }

  @Test
  void storedResponsesCanBeReadAndRemoved() {
    JsonNode response = client.post(PATH, "{'input':'Keep'}").json();
    String path = PATH + "/" + response.path("id").asText();
    assertThat(client.get(path).json()).isEqualTo(response);
    Reply deleted = client.send("DELETE", path, new Headers(), "").await();
    assertThat(deleted.json().path("deleted").asBoolean()).isTrue();
    assertThat(client.get(path).status()).isEqualTo(404);
    assertThat(client.send("DELETE", path, new Headers(), "").await().status()).isEqualTo(404);

    JsonNode unstored = client.post(PATH, "{'input':'Forget','store':false}").json();
    assertThat(client.get(PATH + "/" + unstored.path("id").asText()).status()).isEqualTo(404);
    Reply unknown = client.post(PATH, "{'input':'x','previous_response_id':'resp_none'}");
    assertThat(unknown.status()).isEqualTo(404);
  }

  @Test
  void theStoreDropsTheLeastRecentlyUsed() {
    String first = client.post(PATH, "{'input':'First'}").json().path("id").asText();
    String second = client.post(PATH, "{'input':'Second'}").json().path("id").asText();
    for (int i = 0; i < 4; i++) {
      client.get(PATH + "/" + first);
      client.post(PATH, "{'input':'More'}");
    }
    assertThat(client.get(PATH + "/" + second).status()).isEqualTo(404);
    assertThat(client.get(PATH + "/" + first).status()).isEqualTo(200);
  }
}
