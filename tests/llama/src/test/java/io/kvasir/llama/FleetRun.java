package io.kvasir.llama;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.ModelEngineSettings;
import io.kvasir.exchange.http.HttpFront;
import io.kvasir.gateway.Gateway;
import io.kvasir.gateway.GatewayOutputs;
import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.LocalWorker;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.gateway.proxy.ClientLimits;
import io.kvasir.gateway.proxy.CrossOrigin;
import io.kvasir.gateway.proxy.PassPaths;
import io.kvasir.gateway.proxy.ProxySettings;
import io.kvasir.gateway.route.BreakerSettings;
import io.kvasir.gateway.route.Shares;
import io.opentelemetry.api.OpenTelemetry;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A process with four llama.cpp workers behind a gateway. llama.cpp's log goes to standard error; a
 * line of JSON on standard output has what the clients saw.
 */
final class FleetRun {

  static final int WORKERS = 4;
  static final int CONVERSATIONS = 3;
  static final int TURNS = 6;
  static final int COLD_PROMPTS = 3;

  private static final int ANSWER_TOKENS = 16;
  private static final int QUESTION_WORDS = 25;
  private static final int SYSTEM_WORDS = 40;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final HttpClient http = HttpClient.newHttpClient();
  private final Gateway gateway;
  private final ObjectNode seen = MAPPER.createObjectNode();

  private FleetRun(Gateway gateway) {
    this.gateway = gateway;
  }

  /**
   * Runs.
   *
   * @param args the model; the fleet router; {@code conversations} or {@code cold}
   */
  public static void main(String[] args) throws Exception {
    List<LocalWorker> workers = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      ModelEngineSettings settings =
          new ModelEngineSettings(Path.of(args[0]), "random", 0, 16, true);
      workers.add(new LocalWorker("llama-" + i, LlamaEngine.open(settings)));
    }
    try (Gateway gateway =
        Gateway.start(
            settings(args[1]),
            workers,
            Map.of(),
            new GatewayOutputs(
                OutputStream.nullOutputStream(), TrafficRecording.NONE, OpenTelemetry.noop()))) {
      FleetRun run = new FleetRun(gateway);
      if (args[2].equals("cold")) {
        run.coldPrompts();
      } else {
        run.conversations();
      }
      System.out.println(run.seen);
    }
    System.exit(0); // llama.cpp's threads would keep the process alive
  }

  private static GatewaySettings settings(String router) {
    return new GatewaySettings(
        new HttpFront.Address("127.0.0.1", 0, null),
        new GatewaySettings.Admin("127.0.0.1", 0, List.of(), null, null),
        1,
        List.of(),
        List.of(),
        router,
        Map.of(),
        List.of(),
        null,
        null,
        new ProxySettings(
            1 << 20,
            30_000,
            60_000,
            600_000,
            3_600_000,
            120_000,
            60_000,
            3,
            new Shares(0),
            true,
            ClientLimits.DEFAULT,
            CrossOrigin.ALL,
            PassPaths.NONE),
        new GatewaySettings.Pressure(64, 64, 1 << 26, 10, 1_000, 0),
        new GatewaySettings.Health(5_000, 60_000, 60_000, 2, 60_000, BreakerSettings.of(5, 5_000)),
        DisaggSettings.DEFAULTS,
        null);
  }

  /** Three conversations take turns; each waits for its answer and continues with it. */
  private void conversations() throws Exception {
    SplittableRandom random = new SplittableRandom(7);
    String system = words(random, SYSTEM_WORDS);
    List<ArrayNode> histories = new ArrayList<>();
    for (int i = 0; i < CONVERSATIONS; i++) {
      ArrayNode history = MAPPER.createArrayNode();
      history.addObject().put("role", "system").put("content", system);
      histories.add(history);
    }
    long promptTokens = 0;
    long cachedTokens = 0;
    for (int turn = 0; turn < TURNS; turn++) {
      for (int i = 0; i < CONVERSATIONS; i++) {
        ArrayNode history = histories.get(i);
        history.addObject().put("role", "user").put("content", words(random, QUESTION_WORDS));
        ObjectNode body = body().set("messages", history.deepCopy());
        JsonNode reply = post("/v1/chat/completions", "conversation-" + i, body).body();
        history.add(MAPPER.createObjectNode().put("role", "assistant").put("content", text(reply)));
        promptTokens += reply.at("/usage/prompt_tokens").asLong();
        cachedTokens += reply.at("/usage/prompt_tokens_details/cached_tokens").asLong();
      }
    }
    seen.put("promptTokens", promptTokens).put("cachedTokens", cachedTokens);
  }

  private static String text(JsonNode reply) {
    return reply.at("/choices/0/message/content").asText();
  }

  /** Each prompt goes to all workers, and shares nothing with the prompts before it. */
  private void coldPrompts() throws Exception {
    SplittableRandom random = new SplittableRandom(8);
    ArrayNode answers = seen.putArray("answers");
    for (int i = 0; i < COLD_PROMPTS; i++) {
      ObjectNode body = body().put("prompt", (char) ('A' + i) + words(random, 60));
      ObjectNode byWorker = answers.addObject();
      for (int worker = 0; worker < WORKERS; worker++) {
        Reply reply = post("/v1/completions", "cold", body);
        byWorker.put(reply.worker(), reply.body().at("/choices/0/text").asText());
      }
    }
  }

  private static ObjectNode body() {
    return MAPPER
        .createObjectNode()
        .put("model", "random")
        .put("temperature", 0)
        .put("max_tokens", ANSWER_TOKENS);
  }

  private static String words(SplittableRandom random, int count) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      for (int letters = random.nextInt(2, 9); letters > 0; letters--) {
        text.append((char) random.nextInt('a', 'z' + 1));
      }
      text.append(' ');
    }
    return text.toString();
  }

  private record Reply(String worker, JsonNode body) {}

  private Reply post(String path, String conversation, ObjectNode body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.port() + path))
            .header("content-type", "application/json")
            .header("X-Session-ID", conversation)
            .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
            .build();
    HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IllegalStateException(response.statusCode() + " " + response.body());
    }
    return new Reply(
        response.headers().firstValue("x-kvasir-worker").orElse(""),
        MAPPER.readTree(response.body()));
  }
}
