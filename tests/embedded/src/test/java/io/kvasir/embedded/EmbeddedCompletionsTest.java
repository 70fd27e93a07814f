package io.kvasir.embedded;

import static io.kvasir.embedded.EngineClient.chat;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.Headers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Chat and text completions over embedded ranks. */
class EmbeddedCompletionsTest {

  private static final String CHAT = "/v1/chat/completions";
  private static final int BLOCK = 16;

  private final EmbeddedEngine engine =
      EmbeddedEngine.open(
          EmbeddedSettings.builder("words")
              .ranks(2)
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

  @Test
  void aChatHasContentUsageAndPlacement() {
    Reply reply = client.post(CHAT, chat("Hello", ",'max_tokens':5,'ignore_eos':true"));
    assertThat(reply.status()).isEqualTo(200);
    JsonNode json = reply.json();
    assertThat(json.path("object").asText()).isEqualTo("chat.completion");
    JsonNode choice = json.path("choices").path(0);
    assertThat(choice.path("message").path("content").asText().split(" ", -1)).hasSize(5);
    assertThat(choice.path("finish_reason").asText()).isEqualTo("length");
    int prompt = "<|user|>\nHello\n<|assistant|>\n".length();
    assertThat(json.path("usage").path("prompt_tokens").asInt()).isEqualTo(prompt);
    assertThat(json.path("usage").path("completion_tokens").asInt()).isEqualTo(5);
    assertThat(json.path("usage").path("total_tokens").asInt()).isEqualTo(prompt + 5);
    assertThat(reply.header("x-kvasir-dp-rank")).isIn("0", "1");
    assertThat(reply.header("x-kvasir-matched-tokens")).isEqualTo("0");
    assertThat(reply.header("x-kvasir-reason")).isEqualTo("load");
  }

  @Test
  void aStreamIsTheConcatenationOfTheWholeAnswer() {
    String whole =
        client
            .post(CHAT, chat("Tell me", ",'max_tokens':40"))
            .json()
            .at("/choices/0/message/content")
            .asText();
    Reply stream =
        client.post(
            CHAT,
            chat(
                "Tell me",
                ",'max_tokens':40,'stream':true,'stream_options':{'include_usage':true}"));
    assertThat(stream.header("content-type")).startsWith("text/event-stream");
    assertThat(stream.text()).endsWith("data: [DONE]\n\n");
    List<JsonNode> events = stream.events();
    assertThat(events.get(0).at("/choices/0/delta/role").asText()).isEqualTo("assistant");
    StringBuilder text = new StringBuilder();
    events.forEach(event -> text.append(event.at("/choices/0/delta/content").asText("")));
    assertThat(text.toString()).isEqualTo(whole);
    JsonNode usage = events.get(events.size() - 1);
    assertThat(usage.path("choices")).isEmpty();
    assertThat(usage.at("/usage/completion_tokens").asInt()).isPositive();
    assertThat(events.get(events.size() - 2).at("/choices/0/finish_reason").asText())
        .isIn("stop", "length");
    assertThat(events.get(1).get("usage").isNull()).isTrue();
  }

  @Test
  void equalPromptsHaveEqualAnswersOnEveryRankAndEngine() {
    String answer = content(0, "Same", "");
    assertThat(content(1, "Same", "")).isEqualTo(answer);
    assertThat(content(0, "Other", "")).isNotEqualTo(answer);
    assertThat(content(0, "Same", ",'seed':7")).isNotEqualTo(answer);
    try (EmbeddedEngine other =
            EmbeddedEngine.open(
                EmbeddedSettings.builder("words").ranks(1).speed(1e6).build(),
                RankPools.Place.HOST);
        EngineClient otherClient = new EngineClient(other)) {
      assertThat(otherClient.post(CHAT, chat("Same", "")).json().at("/choices/0/message/content"))
          .hasToString('"' + answer + '"');
    }
  }

  private String content(int rank, String prompt, String more) {
    Reply reply =
        client
            .send(
                "POST",
                CHAT,
                new Headers().add("x-data-parallel-rank", "" + rank),
                chat(prompt, more))
            .await();
    assertThat(reply.header("x-kvasir-dp-rank")).isEqualTo("" + rank);
    assertThat(reply.header("x-kvasir-reason")).isEqualTo("explicit");
    return reply.json().at("/choices/0/message/content").asText();
  }

  @Test
  void theSecondTurnUsesTheBlocksOfTheFirst() {
    String question = "x".repeat(100);
    String first = "{'messages':[{'role':'user','content':'" + question + "'}],'routed_dp_rank':1}";
    JsonNode answer = client.post(CHAT, first).json();
    assertThat(answer.at("/usage/prompt_tokens_details/cached_tokens").asInt()).isZero();
    String second =
        "{'messages':[{'role':'user','content':'"
            + question
            + "'},{'role':'assistant','content':'"
            + answer.at("/choices/0/message/content").asText()
            + "'},{'role':'user','content':'And then?'}],'data_parallel_rank':1}";
    Reply reply = client.post(CHAT, second);
    int firstPrompt = answer.at("/usage/prompt_tokens").asInt();
    assertThat(reply.json().at("/usage/prompt_tokens_details/cached_tokens").asInt())
        .isEqualTo(firstPrompt / BLOCK * BLOCK);
    assertThat(reply.header("x-kvasir-matched-tokens")).isEqualTo("" + firstPrompt / BLOCK * BLOCK);
  }

  @Test
  void aStopStringEndsTheAnswerBeforeIt() {
    String whole = content(0, "Stop", ",'max_tokens':30,'ignore_eos':true");
    String stop = whole.substring(whole.length() / 2, whole.length() / 2 + 4);
    Reply reply =
        client.post(
            CHAT, chat("Stop", ",'max_tokens':30,'ignore_eos':true,'stop':['" + stop + "','@']"));
    assertThat(reply.json().at("/choices/0/message/content").asText())
        .isEqualTo(whole.substring(0, whole.indexOf(stop)));
    assertThat(reply.json().at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(reply.json().at("/choices/0/stop_reason").asText()).isEqualTo(stop);
    assertThat(reply.json().at("/usage/completion_tokens").asInt()).isLessThan(30);
  }

  @Test
  void completionsTakeTextsAndTokensAndSeveralChoices() {
    JsonNode text = client.post("/v1/completions", "{'prompt':'ab','max_tokens':4}").json();
    JsonNode tokens = client.post("/v1/completions", "{'prompt':[97,98],'max_tokens':4}").json();
    assertThat(text.path("object").asText()).isEqualTo("text_completion");
    assertThat(tokens.at("/choices/0/text")).isEqualTo(text.at("/choices/0/text"));
    JsonNode several =
        client
            .post("/v1/completions", "{'prompt':['ab',[99]],'n':2,'max_tokens':4}")
            .json()
            .path("choices");
    assertThat(several).hasSize(4);
    assertThat(several.at("/0/text")).isEqualTo(text.at("/choices/0/text"));
    assertThat(several.at("/1/text")).isNotEqualTo(several.at("/0/text"));
    assertThat(several.at("/3/index").asInt()).isEqualTo(3);
  }

  @Test
  void choicesOfDifferentLengthsAreComplete() {
    String more = ",'n':5,'max_tokens':300,'stream_options':{'include_usage':true},'stream':";
    JsonNode whole = client.post(CHAT, chat("Five", more + "false")).json();
    String[] streamed = {"", "", "", "", ""};
    int ends = 0;
    List<JsonNode> events = client.post(CHAT, chat("Five", more + "true")).events();
    for (JsonNode event : events) {
      JsonNode choice = event.at("/choices/0");
      streamed[choice.path("index").asInt()] += choice.at("/delta/content").asText("");
      ends += choice.path("finish_reason").asText().equals("stop") ? 1 : 0;
    }
    assertThat(ends).isEqualTo(5);
    int words = 0;
    for (int i = 0; i < 5; i++) {
      String text = whole.at("/choices/" + i + "/message/content").asText();
      assertThat(streamed[i]).isEqualTo(text);
      words += 1 + (int) text.chars().filter(c -> c == ' ').count();
    }
    assertThat(whole.at("/usage/completion_tokens").asInt()).isEqualTo(words);
    JsonNode usage = events.get(events.size() - 1).path("usage");
    assertThat(usage.path("completion_tokens").asInt()).isEqualTo(words);
    assertThat(usage.path("prompt_tokens")).isEqualTo(whole.at("/usage/prompt_tokens"));
  }

  @Test
  void chunksOfTextCompletionsHaveOneForm() {
    Reply reply =
        client.post("/v1/completions", "{'prompt':'ab','max_tokens':4,'n':2,'stream':true}");
    StringBuilder text = new StringBuilder();
    for (JsonNode event : reply.events()) {
      assertThat(event.path("object").asText()).isEqualTo("text_completion");
      assertThat(event.path("model").asText()).isEqualTo("words");
      JsonNode choice = event.at("/choices/0");
      assertThat(choice.fieldNames())
          .toIterable()
          .containsExactly("index", "text", "logprobs", "finish_reason", "stop_reason");
      text.append(choice.path("index").asInt() == 0 ? choice.path("text").asText() : "");
    }
    JsonNode whole = client.post("/v1/completions", "{'prompt':'ab','max_tokens':4}").json();
    assertThat(text.toString()).isEqualTo(whole.at("/choices/0/text").asText());
  }

  @Test
  void twoHundredRequestsAtOnceAllComplete() {
    List<EngineClient.Pending> all = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      all.add(client.send(CHAT, chat("Request " + i % 50, ",'stream':" + (i % 2 == 0))));
    }
    all.forEach(pending -> assertThat(pending.await().status()).isEqualTo(200));
  }
}
