package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.RawClient.Reply;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests whose end is ambiguous, and fields that would change their meaning on the way. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SmugglingTest {

  private static final String HEAD =
      "POST " + CHAT + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
  private static final String SMUGGLED = "GET /v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n";

  private ScriptedEngine engine;
  private TestGateway gateway;

  @BeforeAll
  void start() {
    engine = ScriptedEngine.good();
    gateway = TestGateway.of(engine).start();
  }

  @AfterAll
  void stop() {
    gateway.close();
    engine.close();
  }

  static Stream<Arguments> ambiguous() {
    String length = "Content-Length: " + ASK.length() + "\r\n";
    String chunked = "Transfer-Encoding: chunked\r\n";
    String chunks = Integer.toHexString(ASK.length()) + "\r\n" + ASK + "\r\n0\r\n\r\n";
    return Stream.of(
        Arguments.of("length and chunked", length + chunked + "\r\n" + chunks),
        Arguments.of("chunked and length", chunked + length + "\r\n" + chunks),
        Arguments.of("two lengths", length + "Content-Length: 5\r\n\r\n" + ASK),
        Arguments.of("two lengths in one field", "Content-Length: 5, 6\r\n\r\n" + ASK),
        Arguments.of("a negative length", "Content-Length: -1\r\n\r\n" + ASK),
        Arguments.of("a length with a sign", "Content-Length: +" + ASK.length() + "\r\n\r\n" + ASK),
        Arguments.of("a length in hex", "Content-Length: 0x10\r\n\r\n" + ASK),
        Arguments.of(
            "a length that overflows", "Content-Length: 99999999999999999999\r\n\r\n" + ASK),
        Arguments.of("an empty length", "Content-Length:\r\n\r\n" + ASK),
        Arguments.of("xchunked", "Transfer-Encoding: xchunked\r\n\r\n" + chunks),
        Arguments.of("chunked, identity", "Transfer-Encoding: chunked, identity\r\n\r\n" + chunks),
        Arguments.of("identity", "Transfer-Encoding: identity\r\n" + length + "\r\n" + ASK),
        Arguments.of("gzip, chunked", "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks),
        Arguments.of("chunked twice", chunked + chunked + "\r\n" + chunks),
        Arguments.of("a bad chunk size", chunked + "\r\nxyz\r\n" + ASK + "\r\n0\r\n\r\n"),
        Arguments.of("a negative chunk size", chunked + "\r\n-5\r\n" + ASK + "\r\n0\r\n\r\n"),
        Arguments.of("a chunk size in 0x", chunked + "\r\n0x5\r\n{\"a\":\r\n0\r\n\r\n"),
        Arguments.of("a chunk size that overflows", chunked + "\r\nfffffffffffffffff\r\n" + ASK),
        Arguments.of("a chunk without its end", chunked + "\r\n5\r\n{\"a\":1}\r\n0\r\n\r\n"),
        Arguments.of(
            "a space before the colon", "Content-Length : " + ASK.length() + "\r\n\r\n" + ASK),
        Arguments.of(
            "a space before the colon of the encoding",
            "Transfer-Encoding : chunked\r\n\r\n" + chunks),
        Arguments.of("a line without a colon", "Content-Length\r\n" + length + "\r\n" + ASK),
        Arguments.of("a zero in a name", "X\0Y: 1\r\n" + length + "\r\n" + ASK),
        Arguments.of("a zero in a value", "X: a\0b\r\n" + length + "\r\n" + ASK),
        Arguments.of("a return in a value", "X: a\rb\r\n" + length + "\r\n" + ASK),
        Arguments.of("a bare line feed", "X: a\n" + length + "\r\n" + ASK));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ambiguous")
  void anAmbiguousRequestIs400AndItsConnectionCloses(String what, String rest) {
    int before = engine.received();
    try (RawClient client = gateway.client()) {
      client.trySend(
          (HEAD + rest + SMUGGLED).getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));
      Reply reply = client.reply();
      assertThat(reply.status()).as(reply.text()).isEqualTo(400);
      assertThat(reply.json().at("/error/message").asText()).isNotEmpty();
      assertThat(client.isClosed()).isTrue();
    }
    assertThat(engine.received()).isEqualTo(before);
    gateway.works();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "GET\r\n\r\n",
        "GET /v1/models\r\n\r\n",
        "GET /v1/models HTTP/9.9\r\n\r\n",
        "GET  /v1/models  HTTP/1.1 x\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n",
        "{\"model\":\"m\"}\r\n\r\n",
        "GET /v1/models\0x HTTP/1.1\r\nHost: x\r\n\r\n",
        "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http://127.0.0.1:22/x HTTP/1.1\r\nHost: x\r\n\r\n"
      })
  void whatIsNotARequestIsRefused(String text) {
    int before = engine.received();
    try (RawClient client = gateway.client()) {
      client.trySend(text.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));
      if (!text.isEmpty()) {
        assertThat(client.reply().status()).isIn(400, 404, 405, 501, 505);
      }
    }
    assertThat(engine.received()).isEqualTo(before);
    gateway.works();
  }

  @Test
  void foldedFieldsReachTheEngineInOneLine() {
    int before = engine.received();
    try (RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK, "X-Folded: a\r\n b\r\n\tX-Kvasir-Explain: 1"));
      assertThat(client.reply().status()).isEqualTo(200);
    }
    assertThat(engine.received()).isEqualTo(before + 1);
    ScriptedEngine.Received request = engine.next();
    while (request.field("x-folded") == null) {
      request = engine.next();
    }
    assertThat(request.field("x-folded")).startsWith("a b").doesNotContain("\t");
    gateway.works();
  }

  @Test
  void aBodyIsNeverASecondRequest() {
    try (RawClient client = gateway.client()) {
      String body = ASK.replace("Hi", SMUGGLED.replace("\r\n", "\\r\\n")) + "\r\n\r\n";
      assertThat(client.send(RawClient.post(CHAT, body)).reply().status()).isEqualTo(200);
      ScriptedEngine.Received first = drain();
      assertThat(first.target()).isEqualTo(CHAT);
      assertThat(first.text()).isEqualTo(body);
    }
    gateway.works();
  }

  private ScriptedEngine.Received drain() {
    ScriptedEngine.Received last = engine.next();
    while (!last.text().contains("smuggled")) {
      last = engine.next();
    }
    return last;
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() {
    try (RawClient client = gateway.client()) {
      String get = "GET /v1/models/%s HTTP/1.1\r\nHost: x\r\n\r\n";
      client.send(
          new String(RawClient.post(CHAT, ASK), java.nio.charset.StandardCharsets.ISO_8859_1)
              + get.formatted("m")
              + get.formatted("n"));
      assertThat(client.reply().text()).contains("Hello you");
      assertThat(client.reply().json().path("id").asText()).isEqualTo("m");
      assertThat(client.reply().status()).isEqualTo(404);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "a\tb", "", "\"", "a,b", "\u00e9", "<x>", "a%0d%0aX:1", "{}"})
  void aRequestIdThatIsNotPlainIsReplaced(String id) {
    Reply reply = gateway.post(CHAT, ASK, "X-Request-Id: " + id);
    assertThat(reply.status()).isEqualTo(200);
    String used = reply.field("x-request-id");
    assertThat(used).matches("req-[0-9a-f]{32}");
    JsonNode line = gateway.logLine();
    while (!line.path("request_id").asText().equals(used)) {
      line = gateway.logLine(); // the lines of earlier requests may come late
    }
  }

  @Test
  void aLongRequestIdIsReplaced() {
    Reply reply = gateway.post(CHAT, ASK, "X-Request-Id: " + "a".repeat(129));
    assertThat(reply.field("x-request-id")).matches("req-[0-9a-f]{32}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "\u00e9\u00fc", "<>\"'{}", "a,b;c=d", "%0d%0a", "null"})
  void anOddConversationIsUsedAsItIs(String id) {
    assertThat(gateway.post(CHAT, ASK, "X-Session-ID: " + id).status()).isEqualTo(200);
  }

  @Test
  void aLongConversationIs400() {
    Reply reply = gateway.post(CHAT, ASK, "X-Session-ID: " + "a".repeat(513));
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.param()).isEqualTo("X-Session-ID");
    gateway.works();
  }

  @ParameterizedTest
  @ValueSource(strings = {"\u0001", "a\u0008b", "\u007f", "\u00e9", "\u00ff", "a\tb"})
  void oddValuesOfFieldsAreRefusedOrPass(String value) {
    Reply reply = gateway.post(CHAT, ASK, "X-Odd: " + value);
    assertThat(reply.status()).as(reply.text()).isIn(200, 400);
    gateway.works();
  }
}
