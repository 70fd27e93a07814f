package io.kvasir.llama;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.embedded.EngineServer;
import io.kvasir.embedded.ModelEngineSettings;
import io.kvasir.testing.llama.GgufWriter;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** One llama.cpp engine behind HTTP. */
@EnabledOnOs(
    value = OS.LINUX,
    architectures = "amd64",
    disabledReason = "llama.cpp is tested on Linux for x86_64 only")
class LlamaEngineTest {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int CONTEXT = 2048;
  private static final int MOST = 3;
  private static EngineServer server;

  @BeforeAll
  static void open(@TempDir Path folder) throws Exception {
    Path file = GgufWriter.write(folder.resolve("random.gguf"), 3);
    server =
        EngineServer.start(
            LlamaEngine.open(new ModelEngineSettings(file, null, CONTEXT, MOST, false)),
            "127.0.0.1",
            0,
            1);
  }

  @AfterAll
  static void close() {
    server.close();
  }

  private static HttpRequest request(String path, String body) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body.replace('\'', '"')))
        .build();
  }

  private static HttpResponse<String> post(String path, String body) throws Exception {
    return HTTP.send(request(path, body), HttpResponse.BodyHandlers.ofString());
  }

  private static JsonNode json(String path, String body) throws Exception {
    HttpResponse<String> response = post(path, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return MAPPER.readTree(response.body());
  }

  private static String get(String path) throws Exception {
    return HTTP.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private static String prompt(String text, int tokens, String more) {
    return "{'prompt':'" + text + "','max_tokens':" + tokens + ",'temperature':0" + more + "}";
  }

  private static String text(JsonNode reply) {
    return reply.at("/choices/0/text").asText();
  }

  private static int cached(JsonNode reply) {
    return reply.at("/usage/prompt_tokens_details/cached_tokens").asInt();
  }

  @Test
  void greedyAnswersRepeatAndTheirPromptsAreCached() throws Exception {
    String prompt = "One prompt that no other test has. ".repeat(10);
    JsonNode first = json("/v1/completions", prompt(prompt, 20, ""));
    JsonNode second = json("/v1/completions", prompt(prompt, 20, ""));
    assertThat(text(first)).hasSize(20).isEqualTo(text(second));
    assertThat(first.at("/choices/0/finish_reason").asText()).isEqualTo("length");
    assertThat(first.at("/usage/prompt_tokens").asInt()).isEqualTo(prompt.length() + 1);
    assertThat(first.at("/usage/completion_tokens").asInt()).isEqualTo(20);
    assertThat(cached(first)).isLessThan(10);
    assertThat(cached(second)).isEqualTo(prompt.length());
  }

  @Test
  void aStreamHasTheSameText() throws Exception {
    String whole = text(json("/v1/completions", prompt("Streams", 30, "")));
    String stream = post("/v1/completions", prompt("Streams", 30, ",'stream':true")).body();
    StringBuilder text = new StringBuilder();
    for (String line : stream.lines().toList()) {
      if (line.startsWith("data: {")) {
        text.append(text(MAPPER.readTree(line.substring("data: ".length()))));
      }
    }
    assertThat(stream).endsWith("data: [DONE]\n\n");
    assertThat(text.toString()).isEqualTo(whole);
  }

  @Test
  void aChatIsRenderedWithTheModelsTemplate() throws Exception {
    String messages = "'messages':[{'role':'user','content':'Hi'}]";
    JsonNode tokens = json("/tokenize", "{" + messages + "}");
    String prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n";
    assertThat(tokens.at("/count").asInt()).isEqualTo(prompt.length() + 1);
    JsonNode reply =
        json("/v1/chat/completions", "{" + messages + ",'max_tokens':5,'temperature':0}");
    assertThat(reply.at("/choices/0/message/content").asText()).hasSize(5);
    assertThat(reply.at("/usage/prompt_tokens").asInt()).isEqualTo(prompt.length() + 1);
    assertThat(reply.at("/model").asText()).isEqualTo("random");
  }

  @Test
  void tokensAreTheModelsOwn() throws Exception {
    JsonNode tokens = json("/tokenize", "{'prompt':'a \u00e9'}");
    assertThat(tokens.at("/count").asInt()).isEqualTo(5); // the leading one, a, blank, two bytes
    assertThat(
            json("/detokenize", "{'tokens':" + tokens.at("/tokens") + "}").at("/prompt").asText())
        .endsWith("a \u00e9");
    // A prompt of tokens is the same as its text.
    String ids = "{'prompt':" + tokens.at("/tokens") + ",'max_tokens':8,'temperature':0}";
    assertThat(text(json("/v1/completions", ids)))
        .isEqualTo(text(json("/v1/completions", prompt("a \u00e9", 8, ""))));
    assertThat(post("/detokenize", "{'tokens':[354]}").statusCode()).isEqualTo(400);
    assertThat(post("/v1/completions", "{'prompt':[354]}").statusCode()).isEqualTo(400);
  }

  @Test
  void stopStringsEndTheAnswer() throws Exception {
    String whole = text(json("/v1/completions", prompt("Stop", 30, "")));
    String stop = whole.substring(10, 13);
    String quoted = MAPPER.writeValueAsString(stop);
    // As the body replaces single quotes, the string is inserted afterwards.
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/v1/completions"))
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    prompt("Stop", 30, "")
                        .replace('\'', '"')
                        .replace("}", ",\"stop\":" + quoted + "}")))
            .build();
    JsonNode reply =
        MAPPER.readTree(HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body());
    assertThat(text(reply)).isEqualTo(whole.substring(0, whole.indexOf(stop)));
    assertThat(reply.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
  }

  @Test
  void seedsDetermineSampledAnswers() throws Exception {
    String sampled = "{'prompt':'Seeds','max_tokens':30,'temperature':2,'top_p':0.95,'seed':";
    String one = text(json("/v1/completions", sampled + "1}"));
    assertThat(text(json("/v1/completions", sampled + "1}"))).isEqualTo(one);
    assertThat(text(json("/v1/completions", sampled + "2}"))).isNotEqualTo(one);
  }

  @Test
  void whatDoesNotFitTheContextIsRefused() throws Exception {
    HttpResponse<String> reply = post("/v1/completions", prompt("x".repeat(CONTEXT), 1, ""));
    assertThat(reply.statusCode()).isEqualTo(400);
    assertThat(MAPPER.readTree(reply.body()).at("/error/code").asText())
        .isEqualTo("context_length_exceeded");
    JsonNode full = json("/v1/completions", prompt("x".repeat(CONTEXT - 11), 10, ""));
    assertThat(full.at("/usage/total_tokens").asInt()).isEqualTo(CONTEXT);
  }

  @Test
  void aClientThatLeavesStopsTheGeneration() throws Exception {
    double before = metric("vllm:generation_tokens_total");
    int tokens = CONTEXT - 100;
    String endless = prompt("Endless", tokens, ",'stream':true,'ignore_eos':true");
    HttpResponse<InputStream> stream =
        HTTP.send(request("/v1/completions", endless), HttpResponse.BodyHandlers.ofInputStream());
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
      assertThat(reader.readLine()).startsWith("data: ");
    }
    // One slot serves one request after the other: the endless one is over.
    assertThat(text(json("/v1/completions", prompt("After", 3, "")))).hasSize(3);
    assertThat(metric("vllm:generation_tokens_total") - before).isLessThan(tokens);
    assertThat(metric("vllm:num_requests_running")).isZero();
  }

  private static double metric(String name) throws Exception {
    for (String line : get("/metrics").lines().toList()) {
      if (line.startsWith(name + "{")) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
      }
    }
    throw new AssertionError(name);
  }

  @Test
  void moreRequestsThanTheQueueHoldsAreRefused() throws Exception {
    List<CompletableFuture<HttpResponse<String>>> replies = new ArrayList<>();
    for (int i = 0; i < 4 * MOST; i++) {
      replies.add(
          HTTP.sendAsync(
              request("/v1/completions", prompt("Queue " + i, 200, "")),
              HttpResponse.BodyHandlers.ofString()));
    }
    List<Integer> statuses = new ArrayList<>();
    for (CompletableFuture<HttpResponse<String>> reply : replies) {
      statuses.add(reply.get().statusCode());
    }
    assertThat(statuses).contains(200, 429).containsOnly(200, 429);
  }

  @Test
  void theLibraryIsInAPrivateFolder() throws Exception {
    json("/v1/completions", prompt("x", 1, ""));
    Path folder = Path.of(System.getProperty("de.kherud.llama.lib.path"));
    assertThat(Files.getAttribute(folder, "unix:mode")).isEqualTo(040700);
    assertThat(System.getProperty("de.kherud.llama.tmpdir")).isEqualTo(folder.toString());
    assertThat(Files.readString(Path.of("/proc/self/maps")))
        .contains(folder.resolve("libjllama.so").toString());
  }
}
