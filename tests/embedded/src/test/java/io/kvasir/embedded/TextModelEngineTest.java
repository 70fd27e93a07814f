package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Pending;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.text.TextGeneration;
import io.kvasir.embedded.text.TextModel;
import io.kvasir.embedded.text.TextModelEngine;
import io.kvasir.embedded.text.TextRequest;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.testing.harness.Await;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The engine over a text model, with a model that answers on command. */
class TextModelEngineTest {

  private static final String CHAT = "/v1/chat/completions";
  private static final String TEXT = "/v1/completions";
  private static final int MOST = 3;

  /** Tokens are Latin-1 characters. An answer spells the alphabet, one letter for each permit. */
  private static final class Alphabet implements TextModel {
    final Semaphore permits = new Semaphore(0);
    final List<TextRequest> requests = new CopyOnWriteArrayList<>();
    final AtomicInteger stopped = new AtomicInteger();
    volatile boolean closed;
    volatile RuntimeException failure;

    @Override
    public String name() {
      return "alphabet";
    }

    @Override
    public int maxModelLen() {
      return 100;
    }

    @Override
    public int vocabularySize() {
      return 256;
    }

    @Override
    public int[] tokens(String text) {
      return text.chars().toArray();
    }

    @Override
    public String text(int[] tokens) {
      byte[] bytes = new byte[tokens.length];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) tokens[i];
      }
      return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @Override
    public String chatPrompt(List<ChatMessage> messages, boolean withAnswer) {
      StringBuilder prompt = new StringBuilder();
      messages.forEach(each -> prompt.append(each.role()).append(':').append(each.content()));
      return prompt + (withAnswer ? ">" : "");
    }

    @Override
    public TextGeneration generate(TextRequest request) {
      requests.add(request);
      return new TextGeneration() {
        private int next;

        @Override
        public int matchedTokens() {
          return 2;
        }

        @Override
        public Piece next() {
          permits.acquireUninterruptibly();
          if (failure != null) {
            throw failure;
          }
          boolean over = next == Math.min(26, request.maxTokens());
          return over ? null : new Piece(String.valueOf((char) ('a' + next++)), 1);
        }

        @Override
        public void close() {
          stopped.incrementAndGet();
        }
      };
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private final Alphabet model = new Alphabet();
  private final TextModelEngine engine = TextModelEngine.open(model, MOST);
  private final EngineClient client = new EngineClient(engine);

  @AfterEach
  void close() {
    model.permits.release(1_000);
    engine.close();
    client.close();
    assertThat(model.closed).isTrue();
  }

  private static String prompt(String text, int maxTokens, String more) {
    return "{'model':'alphabet','prompt':'" + text + "','max_tokens':" + maxTokens + more + "}";
  }

  @Test
  void messagesAreAnswered() {
    model.permits.release(100);
    Reply reply =
        client.post(
            "/v1/messages",
            "{\"max_tokens\":3,\"system\":\"S\",\"messages\":[{\"role\":\"user\",\"content\":"
                + "[{\"type\":\"text\",\"text\":\"Hi\"}]}]}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.json().at("/content/0/text").asText()).isEqualTo("abc");
    assertThat(model.text(model.requests.get(0).prompt())).isEqualTo("system:Suser:Hi>");
    Reply count =
        client.post(
            "/v1/messages/count_tokens",
            "{\"system\":\"S\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}");
    assertThat(count.json().path("input_tokens").asInt()).isEqualTo("system:Suser:Hi>".length());
  }

  @Test
  void responsesContinueEachOther() {
    model.permits.release(100);
    Reply first =
        client.post(
            "/v1/responses", "{\"max_output_tokens\":2,\"instructions\":\"S\",\"input\":\"Hi\"}");
    assertThat(first.status()).as(first.text()).isEqualTo(200);
    assertThat(first.json().at("/output/0/content/0/text").asText()).isEqualTo("ab");
    String id = first.json().path("id").asText();
    Reply second =
        client.post(
            "/v1/responses",
            "{\"max_output_tokens\":2,\"input\":\"Go\",\"previous_response_id\":\"" + id + "\"}");
    assertThat(second.status()).as(second.text()).isEqualTo(200);
    assertThat(model.text(model.requests.get(1).prompt())).isEqualTo("user:Hiassistant:abuser:Go>");
    Reply odd = client.post("/v1/responses", "{\"input\":[{\"type\":\"reasoning\"}]}");
    assertThat(odd.status()).isEqualTo(400);
    assertThat(odd.text()).contains("input[0].role");
  }

  @Test
  void aChatCompletionHasTheAnswerAndItsUsage() {
    model.permits.release(100);
    JsonNode reply =
        client
            .post(
                CHAT,
                "{'messages':[{'role':'user','content':[{'type':'text','text':'Hi'}]}],"
                    + "'max_tokens':3,'temperature':0,'top_p':0.5,'seed':-1,'stop':'x'}")
            .json();
    assertThat(reply.at("/object").asText()).isEqualTo("chat.completion");
    assertThat(reply.at("/model").asText()).isEqualTo("alphabet");
    assertThat(reply.at("/choices/0/message/content").asText()).isEqualTo("abc");
    assertThat(reply.at("/choices/0/finish_reason").asText()).isEqualTo("length");
    assertThat(reply.at("/usage/prompt_tokens").asInt()).isEqualTo("user:Hi>".length());
    assertThat(reply.at("/usage/completion_tokens").asInt()).isEqualTo(3);
    assertThat(reply.at("/usage/prompt_tokens_details/cached_tokens").asInt()).isEqualTo(2);

    TextRequest.Sampling sampling = model.requests.get(0).sampling();
    assertThat(sampling.temperature()).isZero();
    assertThat(sampling.topP()).isEqualTo(0.5);
    assertThat(sampling.seed()).isEqualTo(0xffff_ffffL);
    assertThat(sampling.stops()).containsExactly("x");
    assertThat(sampling.topK()).isNull();
  }

  @Test
  void aStreamHasAnEventForEachToken() {
    model.permits.release(100);
    Reply reply =
        client.post(
            TEXT, prompt("Hi", 40, ",'stream':true,'stream_options':{'include_usage':true}"));
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).endsWith("data: [DONE]\n\n");
    List<JsonNode> events = reply.events();
    StringBuilder text = new StringBuilder();
    events.forEach(event -> text.append(event.at("/choices/0/text").asText()));
    assertThat(text.toString()).isEqualTo("abcdefghijklmnopqrstuvwxyz");
    assertThat(events.get(26).at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(events.get(27).at("/usage/completion_tokens").asInt()).isEqualTo(26);
  }

  @Test
  void severalPromptsAndChoicesAreAnsweredInOrder() {
    model.permits.release(100);
    JsonNode reply = client.post(TEXT, "{'prompt':['A'],'n':3,'seed':5,'max_tokens':2}").json();
    assertThat(reply.at("/choices")).hasSize(3);
    reply.at("/choices").forEach(choice -> assertThat(choice.at("/text").asText()).isEqualTo("ab"));
    assertThat(reply.at("/usage/prompt_tokens").asInt()).isEqualTo(1);
    assertThat(reply.at("/usage/completion_tokens").asInt()).isEqualTo(6);
    assertThat(model.requests)
        .extracting(each -> each.sampling().seed())
        .containsExactly(5L, 6L, 7L);
  }

  @Test
  void theQueueIsBounded() {
    for (int i = 0; i < MOST; i++) {
      client.send(TEXT, prompt("x", 1, ""));
    }
    Reply refused = client.post(TEXT, prompt("x", 1, ""));
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.header("retry-after")).isEqualTo("1");
    assertThat(refused.json().at("/error/type").asText()).isEqualTo("rate_limit_error");
  }

  @Test
  void aCancelledRequestStopsOrLeavesTheQueue() {
    Pending running = client.send(TEXT, prompt("r", 20, ",'stream':true"));
    model.permits.release();
    EngineClient.get(running.firstChunk);
    Pending waiting = client.send(TEXT, prompt("w", 20, ""));
    waiting.run(() -> waiting.call.cancel());
    running.run(() -> running.call.cancel());
    model.permits.release(100);

    assertThat(client.post(TEXT, prompt("n", 2, "")).json().at("/choices/0/text").asText())
        .isEqualTo("ab");
    assertThat(model.requests)
        .extracting(each -> model.text(each.prompt()))
        .containsExactly("r", "n");
    assertThat(running.reply).isNotDone();
    assertThat(waiting.reply).isNotDone();
    assertThat(client.metric("vllm:num_requests_running", 0)).isZero();
    assertThat(client.metric("vllm:num_requests_waiting", 0)).isZero();
    assertThat(client.metric("vllm:generation_tokens_total", 0)).isLessThan(6);
    for (int i = 0; i < MOST; i++) { // all room is free again
      assertThat(client.post(TEXT, prompt("x", 1, "")).status()).isEqualTo(200);
    }
  }

  @Test
  void aFailureIsAnErrorAndTheNextRequestIsServed() {
    model.failure = new IllegalStateException("out of order");
    model.permits.release(100);
    Reply failed = client.post(TEXT, prompt("x", 1, ""));
    assertThat(failed.status()).isEqualTo(500);
    assertThat(failed.json().at("/error/message").asText()).contains("out of order");
    model.failure = null;
    assertThat(client.post(TEXT, prompt("x", 1, "")).status()).isEqualTo(200);
    assertThat(model.stopped).hasValue(2);
  }

  @Test
  void closingAbortsAllRequests() {
    Pending running = client.send(TEXT, prompt("r", 20, ",'stream':true"));
    Pending waiting = client.send(TEXT, prompt("w", 20, ""));
    model.permits.release();
    EngineClient.get(running.firstChunk);
    model.permits.release(1);
    Thread closing = new Thread(engine::close);
    closing.start();
    Set<Thread.State> settled =
        EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING, Thread.State.TERMINATED);
    Await.until(
        "it waits for the model's current step, or need not wait",
        () -> settled.contains(closing.getState()));
    model.permits.release(100);
    assertThat(running.await().failure().kind()).isEqualTo(UpstreamFailure.Kind.CLOSED);
    assertThat(waiting.await().failure().kind()).isEqualTo(UpstreamFailure.Kind.CLOSED);
    assertThat(client.post(TEXT, prompt("x", 1, "")).failure().kind())
        .isEqualTo(UpstreamFailure.Kind.CONNECT);
  }

  @Test
  void whatTheModelWouldFailOnIsRefused() {
    for (String body :
        List.of(
            prompt("x", 0, ""),
            prompt("x", 100, ""),
            prompt("x".repeat(100), 1, ""),
            "{'prompt':''}",
            "{'prompt':[256]}",
            "{'prompt':[-1]}",
            "{'model':'other','prompt':'x'}",
            prompt("x", 1, ",'temperature':1e999"),
            prompt("x", 1, ",'temperature':-1"),
            prompt("x", 1, ",'top_p':0"),
            prompt("x", 1, ",'frequency_penalty':'high'"),
            prompt("x", 1, ",'stop':['']"),
            prompt("x", 1, ",'min_tokens':1"),
            prompt("x", 1, ",'logprobs':2"))) {
      Reply reply = client.post(TEXT, body);
      assertThat(reply.status()).as(body).isBetween(400, 404);
      assertThat(reply.json().at("/error/message").asText()).as(body).isNotEmpty();
    }
    for (String message :
        List.of(
            "{'content':'x'}",
            "{'role':7,'content':'x'}",
            "{'role':'user','content':7}",
            "{'role':'user','content':[{'type':'image_url'}]}",
            "7")) {
      assertThat(client.post(CHAT, "{'messages':[" + message + "]}").status())
          .as(message)
          .isEqualTo(400);
    }
    assertThat(model.requests).isEmpty();
  }

  @Test
  void factsAndTokens() {
    assertThat(client.get("/health").status()).isEqualTo(200);
    assertThat(client.get("/v1/models").json().at("/data/0/id").asText()).isEqualTo("alphabet");
    assertThat(client.get("/v1/models/alphabet").json().at("/max_model_len").asInt())
        .isEqualTo(100);
    assertThat(client.get("/v1/models/other").status()).isEqualTo(404);
    JsonNode tokens = client.post("/tokenize", "{'prompt':'Hi','return_token_strs':true}").json();
    assertThat(tokens.at("/tokens")).hasToString("[72,105]");
    assertThat(tokens.at("/token_strs")).hasToString("[\"H\",\"i\"]");
    assertThat(client.post("/detokenize", "{'tokens':[72,105]}").json().at("/prompt").asText())
        .isEqualTo("Hi");
    assertThat(client.post("/detokenize", "{'tokens':[256]}").status()).isEqualTo(400);
    assertThat(
            client
                .post("/tokenize", "{'messages':[{'role':'user','content':'a'}]}")
                .json()
                .at("/count")
                .asInt())
        .isEqualTo("user:a>".length());
  }
}
