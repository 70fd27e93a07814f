package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that a client must correct: each has its answer, and the gateway goes on. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BadRequestTest {

  private static final int MAX_BODY = 1 << 20;

  private ScriptedEngine engine;
  private TestGateway gateway;

  @BeforeAll
  void start() {
    engine = ScriptedEngine.good();
    gateway = TestGateway.of(engine).maxBodyBytes(MAX_BODY).start();
  }

  @AfterAll
  void stop() {
    gateway.close();
    engine.close();
  }

  static Stream<Arguments> badBodies() {
    return Stream.of(
        Arguments.of("empty", "", null),
        Arguments.of("blank", " \n ", null),
        Arguments.of("no JSON", "hello", null),
        Arguments.of("cut short", "{\"model\":\"m\",\"messages\":[", null),
        Arguments.of("an array", "[]", null),
        Arguments.of("null", "null", null),
        Arguments.of("two documents", "{\"model\":\"m\"}{\"model\":\"m\"}", null),
        Arguments.of("trailing comma", "{\"model\":\"m\",}", null),
        Arguments.of("a model that is a number", "{\"model\":1}", "model"),
        Arguments.of("a model that is a list", "{\"model\":[\"m\"]}", "model"),
        Arguments.of("a stream that is text", "{\"model\":\"m\",\"stream\":\"true\"}", "stream"),
        Arguments.of(
            "options that are a list", "{\"model\":\"m\",\"stream_options\":[]}", "stream_options"),
        Arguments.of("messages that are text", "{\"model\":\"m\",\"messages\":\"x\"}", "messages"),
        Arguments.of(
            "tokens that are text", "{\"model\":\"m\",\"max_tokens\":\"5\"}", "max_tokens"),
        Arguments.of(
            "tokens that are a fraction", "{\"model\":\"m\",\"max_tokens\":1.5}", "max_tokens"),
        Arguments.of("a model twice", "{\"model\":\"m\",\"model\":\"m\"}", "model"),
        Arguments.of(
            "a model twice, once escaped", "{\"model\":\"m\",\"mod\\u0065l\":\"n\"}", "model"),
        Arguments.of(
            "a stream twice", "{\"model\":\"m\",\"stream\":true,\"stream\":false}", "stream"),
        Arguments.of("deep lists", "{\"model\":\"m\",\"x\":" + "[".repeat(100_000), null),
        Arguments.of("deep objects", "{\"model\":\"m\",\"x\":" + "{\"a\":".repeat(50_000), null),
        Arguments.of(
            "a long conversation",
            "{\"model\":\"m\",\"prompt_cache_key\":\"" + "k".repeat(600) + "\"}",
            "prompt_cache_key"),
        Arguments.of(
            "a conversation with a line feed",
            "{\"model\":\"m\",\"prompt_cache_key\":\"a\\nb\"}",
            "prompt_cache_key"),
        Arguments.of("half a pair", "{\"model\":\"m\",\"cache_salt\":\"\\ud800\"}", "cache_salt"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badBodies")
  void aBadBodyIs400(String what, String body, String param) {
    int before = engine.received();
    Reply reply = gateway.post(CHAT, body);
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    assertThat(reply.field("content-type")).isEqualTo("application/json");
    assertThat(reply.code()).isEqualTo("invalid_request");
    assertThat(reply.json().at("/error/type").asText()).isEqualTo("invalid_request_error");
    if (param != null) {
      assertThat(reply.param()).isEqualTo(param);
      assertThat(reply.message()).contains(param);
    }
    assertThat(reply.message()).hasSizeLessThan(500);
    assertThat(reply.field("retry-after")).isNull();
    assertThat(engine.received()).isEqualTo(before);
    gateway.works();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x-llm-d-slo-ttft-ms: soon",
        "x-llm-d-slo-ttft-ms: 0",
        "x-llm-d-slo-ttft-ms: 86400001",
        "x-slo-ttft-ms: NaN",
        "x-llm-d-slo-tpot-ms: -5",
        "x-slo-tpot-ms:",
        "x-kvasir-priority: 1001",
        "x-kvasir-priority: 0.5",
        "x-kvasir-priority: high"
      })
  void aTargetOrPriorityOutOfRangeIs400(String field) {
    Reply reply = gateway.post(CHAT, ASK, field);
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    assertThat(reply.param()).isEqualTo(field.substring(0, field.indexOf(':')));
    assertThat(reply.message()).contains(reply.param(), field.contains("ms") ? "86400000" : "1000");
    gateway.works();
  }

  @Test
  void brokenUtf8Is400() {
    byte[] body = ASK.replace("Hi", "H~~i").getBytes(StandardCharsets.ISO_8859_1);
    int[][] broken = {{0xC3, 0x28}, {0xC0, 0xAF}, {0xED, 0xA0}, {0xFF, 0xFE}, {0xF5, 0x80}};
    int at = ASK.indexOf("Hi") + 1;
    for (int[] pair : broken) {
      body[at] = (byte) pair[0];
      body[at + 1] = (byte) pair[1];
      try (RawClient client = gateway.client()) {
        Reply reply = client.send(RawClient.post(CHAT, body)).reply();
        assertThat(reply.status()).as(reply.text()).isEqualTo(400);
        assertThat(reply.code()).isEqualTo("invalid_request");
        assertThat(reply.message()).contains("UTF-8");
      }
    }
    gateway.works();
  }

  @Test
  void aBadBodyLeavesTheConnectionUsable() {
    try (RawClient client = gateway.client()) {
      assertThat(client.send(RawClient.post(CHAT, "{")).reply().status()).isEqualTo(400);
      assertThat(client.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"unknown", "", "M", "m ", "\\u0000", "../m", "<script>"})
  void anUnknownModelIs404(String model) {
    Reply reply = gateway.post(CHAT, ASK.replace("\"m\"", "\"" + model + "\""));
    assertThat(reply.status()).as(reply.text()).isEqualTo(404);
    assertThat(reply.code()).isEqualTo("model_not_found");
    assertThat(reply.param()).isEqualTo("model");
    gateway.works();
  }

  @Test
  void aLongUnknownModelIsCutInTheAnswer() {
    Reply reply = gateway.post(CHAT, ASK.replace("\"m\"", "\"" + "x".repeat(8_000) + "\""));
    assertThat(reply.status()).isEqualTo(404);
    assertThat(reply.text()).hasSizeLessThan(2_000);
  }

  @Test
  void aBodyOverItsCapIs413() {
    byte[] large = ASK.replace("Hi", "x".repeat(MAX_BODY)).getBytes(StandardCharsets.UTF_8);
    try (RawClient client = gateway.client()) {
      Reply reply = client.trySend(RawClient.post(CHAT, large)).reply();
      assertThat(reply.status()).isEqualTo(413);
      assertThat(reply.code()).isEqualTo("body_too_large");
      assertThat(reply.message()).contains(Integer.toString(MAX_BODY));
      assertThat(client.isClosed()).isTrue();
    }
    gateway.works();
  }

  @Test
  void aChunkedBodyOverItsCapIs413() {
    try (RawClient client = gateway.client()) {
      client.send(chunkedHead());
      byte[] chunk = ("10000\r\n" + "x".repeat(0x10000) + "\r\n").getBytes(StandardCharsets.UTF_8);
      for (int i = 0; i < 17; i++) {
        client.trySend(chunk);
      }
      assertThat(client.reply().status()).isEqualTo(413);
      client.trySend("0\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      assertThat(client.isClosed()).isTrue();
    }
    gateway.works();
  }

  @Test
  void aHugeAnnouncedBodyIs413AtOnce() {
    try (RawClient client = gateway.client()) {
      client.send(
          "POST "
              + CHAT
              + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
              + "Content-Length: 9223372036854775807\r\n\r\n");
      assertThat(client.reply().status()).isEqualTo(413);
    }
    gateway.works();
  }

  /** Another gateway, which waits for no body. */
  private TestGateway hurried() {
    return TestGateway.of(engine).bodyTimeoutMs(200).start();
  }

  @Test
  void aSlowBodyIs408() {
    int before = engine.received();
    try (TestGateway hurried = hurried();
        RawClient client = hurried.client()) {
      byte[] request = RawClient.post(CHAT, ASK);
      client.send(java.util.Arrays.copyOf(request, request.length - 1));
      Reply reply = client.reply();
      assertThat(reply.status()).isEqualTo(408);
      assertThat(reply.code()).isEqualTo("body_timeout");
      assertThat(client.isClosed()).isTrue();
    }
    assertThat(engine.received()).isEqualTo(before);
  }

  @Test
  void aSlowChunkedBodyIs408() {
    try (TestGateway hurried = hurried();
        RawClient client = hurried.client()) {
      client.send(chunkedHead()).send("5\r\n{\"mod\r\n");
      assertThat(client.reply().status()).isEqualTo(408);
    }
  }

  private static String chunkedHead() {
    return "POST "
        + CHAT
        + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n";
  }

  @Test
  void aBodyInChunksOfOneByteIsRead() {
    StringBuilder chunks = new StringBuilder(chunkedHead());
    ASK.chars().forEach(c -> chunks.append("1\r\n").append((char) c).append("\r\n"));
    try (RawClient client = gateway.client()) {
      assertThat(client.send(chunks + "0\r\n\r\n").reply().status()).isEqualTo(200);
    }
  }

  @Test
  void aBodyMayFollowAfter100Continue() {
    try (RawClient client = gateway.client()) {
      byte[] request = RawClient.post(CHAT, ASK, "Expect: 100-continue");
      assertThat(client.send(request).reply().status()).isEqualTo(200);
      assertThat(engine.received()).isPositive();
    }
  }

  @Test
  void headersOverTheirLimitAre431() {
    for (String field : new String[] {"X: " + "x".repeat(40_000), "x".repeat(40_000) + ": x"}) {
      try (RawClient client = gateway.client()) {
        Reply reply = client.trySend(RawClient.post(CHAT, ASK, field)).reply();
        assertThat(reply.status()).isEqualTo(431);
        assertThat(reply.code()).isEqualTo("invalid_http");
        assertThat(reply.message()).contains("32768");
        assertThat(client.isClosed()).isTrue();
      }
    }
    StringBuilder many = new StringBuilder("X: 1");
    for (int i = 0; i < 5_000; i++) {
      many.append("\r\nX").append(i).append(": 1");
    }
    try (RawClient client = gateway.client()) {
      assertThat(client.trySend(RawClient.post(CHAT, ASK, many.toString())).reply().status())
          .isEqualTo(431);
    }
    gateway.works();
  }

  @Test
  void headersBelowTheirLimitPass() {
    assertThat(gateway.post(CHAT, ASK, "X: " + "x".repeat(31_000)).status()).isEqualTo(200);
  }

  @Test
  void aLongRequestLineIs414() {
    try (RawClient client = gateway.client()) {
      Reply reply = client.trySend(RawClient.post(CHAT + "?" + "q".repeat(10_000), ASK)).reply();
      assertThat(reply.status()).isEqualTo(414);
      assertThat(reply.code()).isEqualTo("invalid_http");
      assertThat(client.isClosed()).isTrue();
    }
    gateway.works();
  }

  @Test
  void unknownPathsAndMethodsAreRefused() {
    for (String path : new String[] {"/metrics", "/v2/x", "/v1", "*", "//v1", "/%76"}) {
      Reply reply = gateway.get(path);
      assertThat(reply.status()).as(path).isEqualTo(404);
      assertThat(reply.code()).isEqualTo("not_found");
    }
    Reply get = gateway.get(CHAT);
    assertThat(get.status()).isEqualTo(405);
    assertThat(get.code()).isEqualTo("method_not_allowed");
    gateway.works();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/v1/../metrics", "/v1/%2e%2e/metrics", "/v1/%2E./metrics", "/v1/files/.."})
  void pathsThatClimbAreRefused(String path) {
    int before = engine.received();
    Reply reply = gateway.get(path);
    assertThat(reply.status()).isEqualTo(404);
    assertThat(engine.received()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/files\\..\\x",
        "/v1/..;/metrics",
        "/v1/chat%2fcompletions",
        "/v1/files/%zz",
        "/v1/files/a%0d%0ab",
        "/v1/files#x"
      })
  void pathsWithSeveralMeaningsAre400(String path) {
    int before = engine.received();
    Reply reply = gateway.get(path);
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.code()).isEqualTo("invalid_request");
    assertThat(engine.received()).isEqualTo(before);
  }

  @Test
  void modelsAreListedAndNamed() {
    assertThat(gateway.get("/v1/models").json().at("/data/0/id").asText()).isEqualTo("m");
    assertThat(gateway.get("/v1/models/m").json().path("id").asText()).isEqualTo("m");
    assertThat(gateway.get("/v1/models/%6d").json().path("id").asText()).isEqualTo("m");
    assertThat(gateway.get("/v1/models/n").status()).isEqualTo(404);
    assertThat(gateway.get("//v1/./models/").json().at("/data/0/id").asText()).isEqualTo("m");
    assertThat(gateway.get("/v1/models/a%2Fb").status()).isEqualTo(404);
    assertThat(gateway.get("/v1/models/%zz").status()).isEqualTo(400);
    assertThat(gateway.post("/v1/models", "{}").status()).isEqualTo(405);
  }

  @Test
  void errorsOfMessagesHaveTheShapeOfAnthropic() {
    Reply reply = gateway.post("/v1/messages", "{");
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.json().path("type").asText()).isEqualTo("error");
    assertThat(reply.json().at("/error/type").asText()).isEqualTo("invalid_request_error");
  }
}
