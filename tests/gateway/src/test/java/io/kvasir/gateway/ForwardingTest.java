package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What passes the gateway, in both directions. */
class ForwardingTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private ScriptedEngine engine;

  @BeforeEach
  void start() {
    engine = ScriptedEngine.good();
  }

  @AfterEach
  void stop() {
    engine.close();
  }

  private TestGateway gateway(String more) {
    return TestGateway.of(List.of("http://" + engine.name() + more)).start();
  }

  @Test
  void aBodyWithoutRoutingFieldsStaysAsItIs() {
    String body =
        "{ \"messages\" : [ {\"role\":\"user\",\"content\":\"\\u00e9 \\ud83d\\ude00\"} ],"
            + "\"x\":1.50e+03, \"x\":[], \"model\":\"m\" }\n";
    try (TestGateway gateway = gateway("")) {
      assertThat(gateway.post(CHAT, body).status()).isEqualTo(200);
      assertThat(engine.next().text()).isEqualTo(body);
    }
  }

  @Test
  void routingFieldsOfClientsAreStripped() throws IOException {
    StringBuilder body = new StringBuilder("{\"model\":\"m\"");
    for (BodyField field : BodyField.ROUTING) {
      body.append(",\"").append(field.key()).append("\":{\"a\":[1,\"}\"]}");
    }
    body.append(",\"messages\":[]}");
    try (TestGateway gateway = gateway("")) {
      Reply reply =
          gateway.post(
              CHAT,
              body.toString(),
              "X-Data-Parallel-Rank: 3",
              "x-data-parallel-rank: 4",
              "X-Kvasir-Explain: true",
              "X-KVASIR-Dp-Rank: 1",
              "x-kvasir-: 1");
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      Received request = engine.next();
      JsonNode sent = JSON.readTree(request.body());
      assertThat(sent.size()).isEqualTo(2);
      assertThat(sent.path("model").asText()).isEqualTo("m");
      assertThat(request.head().fields().keySet())
          .noneMatch(name -> name.startsWith("x-kvasir") || name.equals("x-data-parallel-rank"));
      assertThat(reply.field("x-kvasir-worker")).isEqualTo(engine.name());
    }
  }

  @Test
  void aRoutingFieldWithAnEscapedNameIsStripped() throws IOException {
    try (TestGateway gateway = gateway("")) {
      String body = "{\"routed_dp_ran\\u006b\":3,\"model\":\"m\",\"messages\":[]}";
      assertThat(gateway.post(CHAT, body).status()).isEqualTo(200);
      assertThat(JSON.readTree(engine.next().body()).size()).isEqualTo(2);
    }
  }

  @Test
  void vllmIsSteeredByAHeader() {
    try (TestGateway gateway = gateway(",ranks=4")) {
      Set<String> ranks = new HashSet<>();
      for (int i = 0; i < 8; i++) {
        Reply reply = gateway.post(CHAT, ASK, "X-Session-ID: s" + i, "X-Data-Parallel-Rank: 9");
        Received request = engine.next();
        assertThat(request.head().fields().get("x-data-parallel-rank")).hasSize(1);
        String rank = request.field("x-data-parallel-rank");
        assertThat(reply.field("x-kvasir-dp-rank")).isEqualTo(rank);
        assertThat(gateway.logLine().path("dp_rank").asText()).isEqualTo(rank);
        assertThat(request.text()).isEqualTo(ASK);
        ranks.add(rank);
      }
      assertThat(ranks).isSubsetOf("0", "1", "2", "3").hasSizeGreaterThan(1);
    }
  }

  @Test
  void sglangIsSteeredByAHeaderAndAFieldOfTheBody() throws IOException {
    try (TestGateway gateway = gateway(",flavor=sglang,ranks=2")) {
      String body = ASK.replace("{\"model\"", "{\"routed_dp_rank\":9,\"model\"");
      for (int i = 0; i < 4; i++) {
        Reply reply = gateway.post(CHAT, body);
        Received request = engine.next();
        assertThat(request.head().fields().get("x-data-parallel-rank"))
            .containsExactly(reply.field("x-kvasir-dp-rank"));
        JsonNode sent = JSON.readTree(request.body());
        assertThat(sent.path("routed_dp_rank").isInt()).isTrue();
        assertThat(sent.path("routed_dp_rank").asText())
            .isIn("0", "1")
            .isEqualTo(reply.field("x-kvasir-dp-rank"));
      }
    }
  }

  @Test
  void trtllmAndSingleRanksAreNotSteered() {
    for (String more : new String[] {",flavor=trtllm", "", ",flavor=sglang"}) {
      try (TestGateway gateway = gateway(more)) {
        assertThat(gateway.post(CHAT, ASK).field("x-kvasir-dp-rank")).isEqualTo("any");
        Received request = engine.next();
        assertThat(request.field("x-data-parallel-rank")).isNull();
        assertThat(request.text()).isEqualTo(ASK);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "trtllm, X-Claude-Code-Session-Id: one, one",
    "trtllm, session-id: two, two",
    "trtllm, X-Correlation-ID: a b, a+b",
    "trtllm, 'X-Session-ID: own name', own name",
    "trtllm, Accept: */*, k%C3%A9y",
    "vllm, X-Claude-Code-Session-Id: one, ",
    "sglang, session-id: two, "
  })
  void theConversationIsNamedWhereTheEngineChoosesTheRankByIt(
      String flavor, String field, @Nullable String named) {
    String body = ASK.replaceFirst("\\{", "{\"prompt_cache_key\":\"k\\\\u00e9y\",");
    try (TestGateway gateway = gateway(",flavor=" + flavor)) {
      Reply reply = gateway.post(CHAT, body, field);
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      Received request = engine.next();
      assertThat(request.text()).isEqualTo(body);
      assertThat(request.field("x-session-id")).isEqualTo(named);
    }
  }

  @Test
  void usageIsInjectedAndStripped() {
    try (TestGateway gateway = gateway("")) {
      Reply reply = gateway.post(CHAT, ASK_STREAM);
      assertThat(engine.next().text()).contains("\"include_usage\":true");
      assertThat(reply.text()).doesNotContain("usage").endsWith("data: [DONE]\n\n");
      JsonNode line = gateway.logLine();
      assertThat(line.path("prompt_tokens").asInt()).isEqualTo(7);
      assertThat(line.path("output_tokens").asInt()).isEqualTo(2);
      String asks =
          ASK_STREAM.replace(
              "\"stream\":true", "\"stream\":true,\"stream_options\":{\"include_usage\":true}");
      assertThat(gateway.post(CHAT, asks).text()).contains("\"usage\":{");
      assertThat(engine.next().text()).isEqualTo(asks);
      String asksNot = asks.replace("\"include_usage\":true", "\"include_usage\":false,\"a\":1");
      assertThat(gateway.post(CHAT, asksNot).text()).doesNotContain("usage");
      assertThat(engine.next().text()).contains("\"include_usage\":true").contains("\"a\":1");
      assertThat(gateway.post(CHAT, ASK).text()).contains("\"usage\"");
      assertThat(engine.next().text()).isEqualTo(ASK);
    }
  }

  @Test
  void fieldsOfOneConnectionDoNotPass() {
    try (TestGateway gateway = gateway("")) {
      Reply reply =
          gateway.post(
              CHAT,
              ASK,
              "Connection: keep-alive, X-Hop, x-hop-two",
              "X-Hop: 1",
              "X-Hop-Two: 1",
              "Keep-Alive: timeout=5",
              "Proxy-Connection: keep-alive",
              "Proxy-Authorization: Basic x",
              "TE: trailers",
              "Trailer: X-T",
              "Upgrade: h2c",
              "Accept-Encoding: gzip",
              "Authorization: Bearer secret",
              "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
              "tracestate: a=1",
              "X-Request-Id: client-1",
              "X-Custom: 1",
              "x-custom: 2");
      assertThat(reply.status()).isEqualTo(200);
      Received request = engine.next();
      assertThat(request.head().fields().keySet())
          .doesNotContain(
              "x-hop",
              "x-hop-two",
              "keep-alive",
              "proxy-connection",
              "proxy-authorization",
              "te",
              "trailer",
              "upgrade",
              "accept-encoding",
              "transfer-encoding");
      assertThat(request.field("authorization")).isEqualTo("Bearer secret");
      assertThat(request.field("traceparent")).startsWith("00-0af76519");
      assertThat(request.field("tracestate")).isEqualTo("a=1");
      assertThat(request.field("host")).isEqualTo(engine.name());
      assertThat(request.head().fields().get("x-request-id")).containsExactly("client-1");
      assertThat(request.head().fields().get("x-custom")).containsExactly("1", "2");
      assertThat(reply.field("x-request-id")).isEqualTo("client-1");
    }
  }

  @Test
  void fieldsOfTheEnginesConnectionDoNotPass() {
    engine.script(
        (request, link) -> {
          link.head(
              200,
              "Content-Type: application/json",
              "Content-Length: 2",
              "Connection: X-Secret",
              "X-Secret: 1",
              "Keep-Alive: timeout=5",
              "X-Request-Id: other",
              "X-Kvasir-Worker: other",
              "Set-Cookie: a=1",
              "Set-Cookie: b=2",
              "Retry-After: 7");
          link.raw("{}");
        });
    try (TestGateway gateway = gateway("")) {
      Reply reply = gateway.post(CHAT, ASK, "X-Request-Id: mine");
      assertThat(reply.head().fields().keySet()).doesNotContain("x-secret", "keep-alive");
      assertThat(reply.head().fields().get("x-request-id")).containsExactly("mine");
      assertThat(reply.head().fields().get("x-kvasir-worker")).containsExactly(engine.name());
      assertThat(reply.head().fields().get("set-cookie")).containsExactly("a=1", "b=2");
      assertThat(reply.field("retry-after")).isEqualTo("7");
      assertThat(reply.head().fields().get("content-length")).containsExactly("2");
    }
  }

  @Test
  void withoutExplanationNoHeaderNamesTheWorker() {
    try (TestGateway gateway = TestGateway.of(engine).noExplanation().start()) {
      assertThat(gateway.post(CHAT, ASK).field("x-kvasir-worker")).isNull();
      assertThat(gateway.post(CHAT, ASK, "X-Kvasir-Explain: true").field("x-kvasir-worker"))
          .isEqualTo(engine.name());
    }
  }

  @Test
  void otherMethodsAndRepliesWithoutBodyPass() {
    try (TestGateway gateway = gateway("");
        RawClient client = gateway.client()) {
      engine.script((request, link) -> link.head(204, "X-A: 1"));
      client.send("DELETE /v1/files/1 HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.head().status()).isEqualTo(204);
      engine.script((request, link) -> link.head(304, "ETag: x"));
      client.send("GET /v1/files/1 HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.head().status()).isEqualTo(304);
      engine.script((request, link) -> link.head(200, "Content-Length: 5"));
      client.send("HEAD /v1/files/1 HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.head().field("content-length")).isEqualTo("5");
      engine.script(EngineLink::answer);
      client.send(RawClient.post(CHAT, ASK));
      assertThat(client.reply().text()).contains("Hello you");
    }
  }

  @Test
  void http10ClientsAreServed() {
    try (TestGateway gateway = gateway("");
        RawClient client = gateway.client()) {
      String request =
          new String(RawClient.post(CHAT, ASK_STREAM), StandardCharsets.US_ASCII)
              .replace("HTTP/1.1", "HTTP/1.0");
      Reply reply = client.send(request).reply();
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.field("transfer-encoding")).isNull();
      assertThat(reply.text()).startsWith("data: {").endsWith("data: [DONE]\n\n");
      assertThat(client.isClosed()).isTrue();
    }
  }

  @Test
  void http10ClientsSeeEachEvent() {
    CountDownLatch seen = new CountDownLatch(1);
    try (TestGateway gateway = gateway("");
        RawClient client = gateway.client()) {
      engine.script(
          (request, link) -> {
            link.stream();
            link.token("Hello");
            Await.opened("the first part is seen", seen);
            link.endStream();
          });
      client.send(
          new String(RawClient.post(CHAT, ASK_STREAM), StandardCharsets.US_ASCII)
              .replace("HTTP/1.1", "HTTP/1.0"));
      assertThat(client.head().field("connection")).isEqualTo("close");
      assertThat(client.event()).contains("Hello");
      seen.countDown();
      assertThat(client.event()).isEqualTo("data: [DONE]\n\n");
      assertThat(client.event()).isNull();
    }
  }
}
