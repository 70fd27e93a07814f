package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Script;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Failures before and after the first data event of a reply. */
class FirstEventTest {

  /** Engines that fail before the first data event. */
  static Stream<Named<Script>> failuresBeforeData() {
    return Stream.of(
        Named.of("reset before the head", (request, link) -> link.reset()),
        Named.of("closed before the head", (request, link) -> link.close()),
        Named.of("half a head", then("HTTP/1.1 200 OK\r\nContent-Ty")),
        Named.of("not HTTP", then("SSH-2.0-OpenSSH_9.2\r\n\r\n")),
        Named.of("zeros", then("\0\0\0\0\r\n\r\n")),
        Named.of("a huge head", then("HTTP/1.1 200 OK\r\nX: " + "x".repeat(200_000) + "\r\n\r\n")),
        Named.of("a status that is no number", then("HTTP/1.1 abc OK\r\n\r\n")),
        Named.of(
            "two lengths",
            then("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")),
        Named.of(
            "a bad chunk",
            then(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")),
        Named.of("a head, then a reset", stream((request, link) -> link.reset())),
        Named.of("a head, then the end of the connection", stream((request, link) -> {})),
        Named.of(
            "a head, then a complete empty body", stream((request, link) -> link.raw("0\r\n\r\n"))),
        Named.of(
            "half an event",
            stream(
                (request, link) -> {
                  link.chunk("data: {\"choices\":[");
                  link.reset();
                })),
        Named.of("500", (request, link) -> link.json(500, "{}")),
        Named.of("503", (request, link) -> link.json(503, "{}")),
        Named.of("429", (request, link) -> link.json(429, "{}")));
  }

  private static Script then(String text) {
    return (request, link) -> {
      link.raw(text);
      link.close();
    };
  }

  private static Script stream(Script then) {
    return (request, link) -> {
      link.stream();
      then.answer(request, link);
      link.close();
    };
  }

  @ParameterizedTest
  @MethodSource("failuresBeforeData")
  void aRequestIsRepeatedUnseen(Script failure) {
    try (ScriptedEngine bad = ScriptedEngine.start(failure);
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(bad, good).router("round_robin").start()) {
      for (int i = 0; i < 2; i++) { // at least one begins at the bad engine
        Reply reply = gateway.post(CHAT, ASK_STREAM);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        assertThat(reply.text()).contains("Hello").endsWith("data: [DONE]\n\n");
        assertThat(reply.field("x-kvasir-worker")).isEqualTo(good.name());
        JsonNode line = gateway.logLine();
        assertThat(line.path("worker_id").asText()).isEqualTo(good.name());
        assertThat(line.path("status").asInt()).isEqualTo(200);
      }
      assertThat(bad.received()).isBetween(1, 2);
      assertThat(good.received()).isEqualTo(2);
      assertThat(gateway.metric("kvasir_retries_total")).isEqualTo(bad.received());
    }
  }

  @ParameterizedTest
  @MethodSource("failuresBeforeData")
  void aWholeReplyIsRepeatedToo(Script failure) {
    try (ScriptedEngine bad = ScriptedEngine.start(failure);
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(bad, good).router("round_robin").start()) {
      for (int i = 0; i < 2; i++) {
        Reply reply = gateway.post(CHAT, ASK);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      }
      gateway.works();
    }
  }

  @ParameterizedTest
  @MethodSource("failuresBeforeData")
  void withoutAnotherWorkerTheFailureHasAnAnswer(Script failure) {
    try (ScriptedEngine bad = ScriptedEngine.start(failure);
        TestGateway gateway = TestGateway.of(bad).start()) {
      Reply reply = gateway.post(CHAT, ASK_STREAM);
      assertThat(reply.status()).isIn(500, 503, 429, 502);
      if (reply.status() == 502) {
        assertThat(reply.code()).isEqualTo("upstream_error");
        assertThat(reply.message()).contains(bad.name());
      }
      assertThat(gateway.logLine().path("status").asInt()).isEqualTo(reply.status());
      bad.script(EngineLink::answer);
      gateway.works();
    }
  }

  /** Engines that fail after a data event. */
  static Stream<Named<Script>> failuresAfterData() {
    return Stream.of(
        Named.of("reset", (request, link) -> link.reset()),
        Named.of("closed", (request, link) -> link.close()),
        Named.of("half an event", (request, link) -> link.chunk("data: {\"choi")),
        Named.of("a bad chunk", (request, link) -> link.raw("zz\r\n\r\n")),
        Named.of("half a chunk", (request, link) -> link.raw("ff\r\ndata: {")));
  }

  @ParameterizedTest
  @MethodSource("failuresAfterData")
  void aStreamThatFailsLaterEndsWithAnErrorEvent(Script failure) {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.token("Hello");
                  Await.opened("the signal to go on", go);
                  failure.answer(request, link);
                  link.close();
                });
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM));
      assertThat(client.head().status()).isEqualTo(200);
      assertThat(client.event()).contains("Hello");
      go.countDown();
      String error = client.event();
      assertThat(error).startsWith("data: {\"error\":{").contains("upstream_error");
      assertThat(client.isCut()).isTrue();
      JsonNode line = gateway.logLine();
      assertThat(line.path("error").asText()).isNotEmpty();
      assertThat(line.path("status").asInt()).isEqualTo(200);
      engine.script(EngineLink::answer);
      gateway.works();
    }
  }

  @Test
  void aWholeReplyThatIsCutShortCutsTheConnection() throws IOException {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.head(200, "Content-Type: application/json", "Content-Length: 100");
                  link.raw("{\"choices\":[");
                  Await.opened("the signal to go on", go);
                  link.close();
                });
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK));
      assertThat(client.head().status()).isEqualTo(200);
      assertThat(client.bodyByte()).isEqualTo('{');
      go.countDown();
      assertThat(client.isCut()).isTrue();
      engine.script(EngineLink::answer);
      gateway.works();
    }
  }

  @Test
  void aRequestThatDiesOnAReusedConnectionIsRepeatedOnANewOne() {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  if (request.number() > 0) {
                    link.reset();
                  } else {
                    EngineLink.answer(request, link);
                  }
                });
        TestGateway gateway = TestGateway.of(engine).retryReserve(0).start();
        RawClient client = gateway.client()) {
      for (int i = 0; i < 6; i++) {
        Reply reply = client.send(RawClient.post(CHAT, i % 2 == 0 ? ASK : ASK_STREAM)).reply();
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      }
      assertThat(engine.received()).isGreaterThan(6);
      assertThat(gateway.metric("kvasir_retries_total", "stale_connection")).isPositive();
    }
  }
}
