package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Script;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines whose replies are valid HTTP at best. */
class BadEngineTest {

  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
  private static final String STREAM =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  @Test
  void bytesAfterAReplyAreNotTheNextReply() {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) ->
                    link.raw(
                        OK
                            + "Content-Length: 2\r\n\r\n{}"
                            + OK
                            + "Content-Length: 6\r\n\r\n\"evil\""));
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      for (int i = 0; i < 10; i++) {
        Reply reply = client.send(RawClient.post(CHAT, ASK)).reply();
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.text()).isEqualTo("{}");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "X: a\u0001b",
        "X: a\u007fb",
        "X: \u00e9\u00ff",
        "X: a\tb",
        "X: a\u000bb",
        "X:",
        "X: a\r\n folded",
        "X Y: 1",
        "X(): 1",
        ": 1",
        "\u00e9: 1",
        "Content-Length: 99999999999999999999",
        "Content-Length: -1",
        "Transfer-Encoding: xchunked",
        "Content-Encoding: gzip",
        "Content-Type: \u0000"
      })
  void oddFieldsOfAReplyPassOrFailTheAttempt(String field) {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.raw("HTTP/1.1 200 OK\r\n" + field + "\r\nConnection: close\r\n\r\n{}");
                  link.close();
                });
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.post(CHAT, ASK);
      assertThat(reply.status()).as(reply.text()).isIn(200, 502);
      engine.script(EngineLink::answer);
      gateway.works();
      assertThat(gateway.metric("kvasir_num_requests_running")).isZero();
    }
  }

  static Stream<Named<Script>> oddReplies() {
    return Stream.of(
        raw(
            "continue, then a reply",
            "HTTP/1.1 100 Continue\r\n\r\n" + OK + "Content-Length: 2\r\n\r\n{}"),
        raw(
            "early hints",
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + "Content-Length: 2\r\n\r\n{}"),
        raw("switching protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        raw("a status of 999", "HTTP/1.1 999 ?\r\nContent-Length: 2\r\n\r\n{}"),
        raw("a status of 99", "HTTP/1.1 99 ?\r\nContent-Length: 2\r\n\r\n{}"),
        raw("a status of 1000", "HTTP/1.1 1000 ?\r\nContent-Length: 2\r\n\r\n{}"),
        raw("a status without a reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}"),
        raw("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n{}"),
        raw("a body until the end of the connection", OK + "\r\n{}"),
        raw("204", "HTTP/1.1 204 No Content\r\n\r\n"),
        raw(
            "a redirect",
            "HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
        raw("empty", OK + "Content-Length: 0\r\n\r\n"),
        raw("no JSON", OK + "Content-Length: 5\r\n\r\nhello"),
        raw("deep JSON", OK + "Content-Length: 9000\r\n\r\n" + "[".repeat(9_000)),
        raw("usage of an odd type", body("{\"usage\":{\"prompt_tokens\":\"many\"}}")),
        raw("negative usage", body("{\"usage\":{\"prompt_tokens\":-5,\"completion_tokens\":-7}}")),
        raw("huge usage", body("{\"usage\":{\"completion_tokens\":99999999999999999999}}")),
        raw("a stream of bytes", STREAM + chunk("\0\1\2\377\n\n") + "0\r\n\r\n"),
        raw("a stream of carriage returns", STREAM + chunk("data: a\r\rdata: b\r\r") + "0\r\n\r\n"),
        raw(
            "a stream without its last blank line",
            STREAM + chunk("data: {}\n\ndata: [DONE]") + "0\r\n\r\n"),
        raw(
            "a stream that ends with an error",
            STREAM + chunk("data: {\"error\":{\"message\":\"x\"}}\n\n") + "0\r\n\r\n"),
        raw(
            "a stream of deep JSON",
            STREAM + chunk("data: " + "{\"a\":".repeat(20_000) + "\n\n") + "0\r\n\r\n"),
        raw(
            "a chunk with an extension and a trailer",
            STREAM + "9;a=b\r\ndata: x\n\n\r\n0\r\nX-T: 1\r\n\r\n"));
  }

  private static String body(String json) {
    return OK + "Content-Length: " + json.length() + "\r\n\r\n" + json;
  }

  private static String chunk(String text) {
    return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
  }

  private static Named<Script> raw(String name, String text) {
    return Named.of(
        name,
        (request, link) -> {
          link.raw(text);
          link.close();
        });
  }

  @ParameterizedTest
  @MethodSource("oddReplies")
  void anOddReplyIsAnswered(Script script) {
    for (String body : new String[] {ASK, ASK_STREAM}) {
      try (ScriptedEngine engine = ScriptedEngine.start(script);
          TestGateway gateway = TestGateway.of(engine).start();
          RawClient client = gateway.client()) {
        client.send(RawClient.post(CHAT, body));
        assertThat(client.head().status()).isBetween(200, 599);
        client.isCut(); // reads to the end, if there is one
        gateway.logLine();
        engine.script(EngineLink::answer);
        gateway.works();
        assertThat(gateway.metric("kvasir_num_requests_running")).isZero();
        assertThat(gateway.metric("kvasir_worker_requests_running")).isZero();
      }
    }
  }

  @Test
  void anEventWithoutEndIsCutBeforeItFillsTheMemory() {
    String part = "x".repeat(1 << 16);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.chunk("data: ");
                  while (true) {
                    link.chunk(part);
                  }
                });
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply reply = gateway.post(CHAT, ASK_STREAM);
      assertThat(reply.status()).isEqualTo(502);
      engine.script(EngineLink::answer);
      gateway.works();
    }
  }

  @Test
  void aWholeReplyWithoutEndIsStreamedAndBounded() throws Exception {
    byte[] part = new byte[1 << 16];
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.head(200, "Content-Type: application/json");
                  while (true) {
                    link.raw(part);
                  }
                });
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK)).head();
      for (int i = 0; i < 1 << 20; i++) {
        assertThat(client.bodyByte()).isZero();
      }
      client.reset();
      assertThat(gateway.logLine().path("status").asInt()).isEqualTo(499);
      engine.script(EngineLink::answer);
      gateway.works();
    }
  }

  @Test
  void aWorkerThatIsNoEngineIsNeverHealthy() throws Exception {
    for (String models :
        List.of(
            "{}",
            "[]",
            "null",
            "x",
            "{\"data\":{}}",
            "{\"data\":[{\"id\":1}]}",
            "[".repeat(5000))) {
      try (ScriptedEngine engine = ScriptedEngine.good()) {
        engine.models(models);
        try (TestGateway gateway = TestGateway.of(engine).start()) {
          assertThat(gateway.get("/ready").status()).isEqualTo(503);
          assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(503);
        }
      }
    }
  }
}
