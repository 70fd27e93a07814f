package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.exchange.Headers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The endpoints of stand-ins, where the engines differ. */
class StandInEndpointsTest {

  private TestStandIn standIn;

  private EngineClient open(EngineFlavor flavor, EventForm form) {
    standIn =
        TestStandIn.open(TestStandIn.wire(flavor, form, EventSettings.newestReplay(flavor), "kv"));
    return standIn.client;
  }

  @AfterEach
  void close() {
    standIn.close();
  }

  @Test
  void vllmReportsItselfInItsWords() {
    EngineClient client = open(EngineFlavor.VLLM, EventForm.NONE);
    assertThat(client.get("/version").json().path("version").asText()).isEqualTo("0.30.0");
    assertThat(client.get("/server_info").status()).isEqualTo(404);
    assertThat(client.get("/metrics").text())
        .contains("vllm:num_requests_running{engine=\"1\"")
        .contains("vllm:num_requests_waiting{engine=\"0\"")
        .contains("vllm:kv_cache_usage_perc{engine=\"0\"")
        .contains("block_size=\"4\",num_gpu_blocks=\"64\"");
    assertThat(client.post("/tokenize", EngineClient.chat("hi", "")).json().path("count").asInt())
        .isPositive();
    assertThat(standIn.engine.publisher()).isEmpty();
  }

  @Test
  void sglangReportsItselfInItsWords() {
    EngineClient client = open(EngineFlavor.SGLANG, EventForm.MAP);
    JsonNode info = client.get("/server_info").json();
    assertThat(info.path("version").asText()).isEqualTo("0.5.22");
    assertThat(info.path("dp_size").asInt()).isEqualTo(2);
    assertThat(info.path("page_size").asInt()).isEqualTo(4);
    JsonNode events = info.path("kv_events");
    assertThat(events.path("endpoint_port_base").asInt())
        .isEqualTo(standIn.publisher().eventsPort());
    assertThat(events.path("endpoint_host").asText()).isEqualTo("127.0.0.1");
    assertThat(events.path("topic").asText()).isEqualTo("kv");
    assertThat(events.path("block_size").asInt()).isEqualTo(4);
    assertThat(events.path("dp_size").asInt()).isEqualTo(2);
    assertThat(client.get("/get_server_info").json()).isEqualTo(info);
    assertThat(client.get("/version").status()).isEqualTo(404);
    assertThat(client.get("/metrics").text())
        .contains("sglang:num_running_reqs{dp_rank=\"1\"")
        .contains("sglang:num_queue_reqs{dp_rank=\"0\"")
        .contains("sglang:token_usage{dp_rank=\"0\"")
        .contains("page_size=\"4\",num_pages=\"64\"");
    JsonNode loads = client.get("/v1/loads").json();
    assertThat(loads.path("dp_rank_count").asInt()).isEqualTo(2);
    assertThat(loads.path("loads")).hasSize(2);
    assertThat(client.get("/v1/loads?dp_rank=1").json().at("/loads/0/dp_rank").asInt())
        .isEqualTo(1);
    assertThat(client.get("/v1/loads?dp_rank=2").status()).isEqualTo(400);
    assertThat(client.post("/tokenize", "{'prompt':'ab'}").json().path("tokens"))
        .hasToString("[97,98]");
    assertThat(client.post("/tokenize", EngineClient.chat("hi", "")).json().path("count").asInt())
        .isEqualTo("<|user|>\nhi\n<|assistant|>\n".length());
  }

  @Test
  void trtllmReportsItselfInItsWords() {
    EngineClient client = open(EngineFlavor.TRTLLM, EventForm.NONE);
    assertThat(client.get("/version").json().path("version").asText()).isEqualTo("1.3.0");
    assertThat(client.get("/server_info").json().path("tokens_per_block").asInt()).isEqualTo(4);
    assertThat(client.get("/metrics").json()).hasSize(2);
    assertThat(client.get("/prometheus/metrics").text())
        .contains("trtllm_num_requests_waiting{")
        .contains("trtllm_num_requests_running{")
        .contains("trtllm_kv_cache_utilization{")
        .contains("trtllm_kv_cache_tokens_per_block{model_name=\"words\"} 4")
        .contains("trtllm_kv_cache_max_blocks{model_name=\"words\"} 64");
    assertThat(client.post("/tokenize", "{'prompt':'a'}").status()).isEqualTo(404);
    JsonNode rendered =
        client.post("/v1/chat/completions/render", EngineClient.chat("hi", "")).json();
    assertThat(rendered.path("token_ids")).hasSize("<|user|>\nhi\n<|assistant|>\n".length());
  }

  @Test
  void sglangGeneratesNatively() {
    EngineClient client = open(EngineFlavor.SGLANG, EventForm.NONE);
    String sampling = "'sampling_params':{'max_new_tokens':3,'ignore_eos':true}";
    JsonNode text = client.post("/generate", "{'text':'abcdefgh'," + sampling + "}").json();
    assertThat(text.path("text").asText().split(" ", -1)).hasSize(3);
    assertThat(text.at("/meta_info/prompt_tokens").asInt()).isEqualTo(8);
    assertThat(text.at("/meta_info/completion_tokens").asInt()).isEqualTo(3);
    assertThat(text.at("/meta_info/finish_reason/type").asText()).isEqualTo("length");
    String ids = "{'input_ids':[97,98,99,100,101,102,103,104]," + sampling;
    JsonNode again = client.post("/generate", ids + "}").json();
    assertThat(again.path("text")).isEqualTo(text.path("text"));
    assertThat(again.at("/meta_info/cached_tokens").asInt()).isEqualTo(4);
    List<JsonNode> events = client.post("/generate", ids + ",'stream':true}").events();
    assertThat(events.get(events.size() - 1).path("text")).isEqualTo(text.path("text"));
    assertThat(client.post("/generate", "{}").json().at("/error/param").asText()).isEqualTo("text");
  }

  @Test
  void sglangTakesTheTokensOfAChat() {
    EngineClient client = open(EngineFlavor.SGLANG, EventForm.NONE);
    String more = ",'max_tokens':1,'input_ids':[97,98,99]";
    JsonNode reply = client.post(TestStandIn.CHAT, EngineClient.chat("hi", more)).json();
    assertThat(reply.at("/usage/prompt_tokens").asInt()).isEqualTo(3);
  }

  /** A request that names rank 1 in its header and in its body, or in one of them. */
  @ParameterizedTest
  @CsvSource({
    "VLLM,   chat/completions, true,  true",
    "VLLM,   responses,        true,  true",
    "VLLM,   chat/completions, false, false",
    "SGLANG, chat/completions, false, true",
    "SGLANG, chat/completions, true,  true",
    "SGLANG, messages,         true,  true",
    "SGLANG, messages,         false, false",
    "SGLANG, responses,        true,  true",
    "SGLANG, responses,        false, true",
    "SGLANG, generate,         true,  false",
    "SGLANG, generate,         false, true",
    "TRTLLM, chat/completions, true,  false",
    "TRTLLM, chat/completions, false, false",
  })
  void ranksAreNamedInTheWordsOfTheEngine(
      EngineFlavor flavor, String path, boolean byHeader, boolean heard) {
    open(flavor, EventForm.NONE);
    String message = "'messages':[{'role':'user','content':'hello'}],'max_tokens':1";
    String body =
        switch (path) {
          case "responses" -> "'input':'hello','max_output_tokens':1";
          case "generate" -> "'text':'hello'";
          default -> message;
        };
    Headers headers = byHeader ? new Headers().add("X-Data-Parallel-Rank", "1") : new Headers();
    String rank = byHeader ? "" : ",'routed_dp_rank':1";
    Reply reply =
        standIn
            .client
            .send(
                "POST",
                path.equals("generate") ? "/generate" : "/v1/" + path,
                headers,
                "{" + body + rank + "}")
            .await();
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.header("x-kvasir-dp-rank")).isEqualTo(heard ? "1" : "0");
  }

  @Test
  void trtllmTakesConversations() {
    EngineClient client = open(EngineFlavor.TRTLLM, EventForm.NONE);
    String more = ",'max_tokens':1,'conversation_params':{'conversation_id':'c'}";
    assertThat(client.post(TestStandIn.CHAT, EngineClient.chat("hi", more)).status())
        .isEqualTo(200);
  }

  /** Rebuilds the truth from the queue, which one reader drains. */
  @Test
  void trtllmsEventsCanBePolled() {
    EngineClient client = open(EngineFlavor.TRTLLM, EventForm.NONE);
    Random random = new Random(13);
    List<Map<String, String>> held = List.of(new HashMap<>(), new HashMap<>());
    List<Long> next = new ArrayList<>(List.of(0L, 0L));
    for (int i = 0; i < 60; i++) {
      standIn.run(0, random, "");
      if (i % 10 == 9) {
        poll(client, held, next);
      }
    }
    for (int rank = 0; rank < TestStandIn.RANKS; rank++) {
      assertThat(held.get(rank)).isEqualTo(standIn.truth(rank)).isNotEmpty();
      assertThat(standIn.blocks(rank).path("last_batch").asLong()).isEqualTo(next.get(rank) - 1);
    }
    assertThat(client.post("/kv_cache_events", "").json()).isEmpty();
    standIn.faults("{'restart':true}");
    JsonNode created = client.post("/kv_cache_events", "").json();
    assertThat(created).hasSize(2);
    assertThat(created.get(0).path("event_id").asLong()).isZero();
    assertThat(created.get(0).at("/data/type").asText()).isEqualTo("created");
  }

  private static void poll(EngineClient client, List<Map<String, String>> held, List<Long> next) {
    for (JsonNode event : client.post("/kv_cache_events", "").json()) {
      int rank = event.path("attention_dp_rank").asInt();
      assertThat(event.path("event_id").asLong()).isEqualTo(next.get(rank));
      next.set(rank, next.get(rank) + 1);
      JsonNode data = event.path("data");
      Map<String, String> blocks = held.get(rank);
      switch (data.path("type").asText()) {
        case "created" -> assertThat(data.path("num_blocks_per_cache_level")).hasToString("[64,0]");
        case "stored" -> {
          JsonNode parent = data.path("parent_hash");
          for (JsonNode block : data.path("blocks")) {
            int position =
                parent.isNull()
                    ? 0
                    : 1 + Integer.parseInt(blocks.get(parent.asText()).split(" ", -1)[1]);
            blocks.put(
                block.path("block_hash").asText(),
                (parent.isNull() ? null : parent.asText()) + " " + position);
            assertThat(block.path("tokens")).hasSize(TestStandIn.BLOCK);
            parent = block.path("block_hash");
          }
        }
        case "removed" -> data.path("block_hashes").forEach(hash -> blocks.remove(hash.asText()));
        default -> throw new AssertionError(data);
      }
    }
  }

  @Test
  void publishedEventsOfTrtllmAreNotPolled() {
    EngineClient client = open(EngineFlavor.TRTLLM, EventForm.MAP);
    standIn.run(0, new Random(13), "");
    assertThat(client.post("/kv_cache_events", "").json()).isEmpty();
  }

  @Test
  void aRankOfTheQueryMustExist() {
    EngineClient client = open(EngineFlavor.VLLM, EventForm.NONE);
    assertThat(client.get("/debug/blocks").json().path("ranks")).hasSize(2);
    Reply reply = client.get("/debug/blocks?rank=2");
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.json().at("/error/message").asText())
        .isEqualTo("rank must be a whole number from 0 to 1, not 2");
  }
}
