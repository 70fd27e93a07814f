package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.ScriptedEngine.Script;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Comments and pings with which engines keep a stream alive before its first data. */
class KeepAliveTest {

  private static final String PING = ": ping\n\n";
  private static final int LIMIT_MS = 4_000;

  /** An engine that sends one sign of life, waits for a signal, and goes on in some way. */
  private static Script alive(String sign, CountDownLatch go, Script then) {
    return (request, link) -> {
      if (!request.streams()) {
        EngineLink.answer(request, link);
        return;
      }
      link.stream();
      link.chunk(sign);
      Await.opened("the signal to go on", go);
      then.answer(request, link);
    };
  }

  private static void finish(ScriptedEngine.Received request, EngineLink link) throws Exception {
    link.token("Hello");
    link.endStream();
  }

  /** The next event that is not only the blank line after a comment. */
  private static String next(RawClient client) {
    StringBuilder event = new StringBuilder();
    while (event.toString().isBlank()) {
      event.append(client.event());
    }
    return event.toString();
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/chat/completions, messages, ': keep-alive\n\n'",
    "/v1/chat/completions, messages, ': keep-alive\r\n\r\n'",
    "/v1/completions, prompt, ':\n\n'",
    "/v1/messages, messages, 'event: ping\ndata: {\"type\": \"ping\"}\n\n'",
    "/v1/responses, input, ': wait\n\n'",
    "/v1/responses, input, 'event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n'"
  })
  void aSignOfLifePassesBeforeAnyData(String path, String field, String sign) {
    String prompt =
        field.equals("messages") ? "[{\"role\":\"user\",\"content\":\"Hi\"}]" : "\"Hi\"";
    String ask = "{\"model\":\"m\",\"stream\":true,\"" + field + "\":" + prompt + "}";
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine = ScriptedEngine.start(alive(sign, go, KeepAliveTest::finish));
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(path, ask));
      assertThat(client.head().status()).isEqualTo(200);
      for (int i = 0; i < sign.length(); i++) {
        assertThat(bodyByte(client)).isEqualTo(sign.charAt(i));
      }
      go.countDown();
      assertThat(client.event()).contains("\"Hello\"");
      assertThat(client.event()).isEqualTo("data: [DONE]\n\n");
      assertThat(client.event()).isNull();
    }
  }

  private static int bodyByte(RawClient client) {
    try {
      return client.bodyByte();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aCommentNeedsNoBlankLine() {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine = ScriptedEngine.start(alive(":\n", go, KeepAliveTest::finish));
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      assertThat(bodyByte(client)).isEqualTo(':');
      go.countDown();
      assertThat(client.event())
          .isEqualTo("\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n");
    }
  }

  /** The client's stream shows no sign of the first engine but its comments. */
  @ParameterizedTest
  @ValueSource(strings = {"reset", "end", "error event"})
  void anEngineThatFailsAfterCommentsIsReplacedInTheSameStream(String failure) {
    CountDownLatch go = new CountDownLatch(1);
    Script fail =
        (request, link) -> {
          switch (failure) {
            case "reset" -> link.reset();
            case "end" -> link.raw("0\r\n\r\n");
            default -> link.event("{\"error\":{\"code\":503,\"message\":\"no\"}}");
          }
        };
    try (ScriptedEngine bad = ScriptedEngine.start(alive(PING, go, fail));
        ScriptedEngine good = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(bad, good).router("round_robin").start()) {
      while (bad.received() == 0) {
        try (RawClient client = gateway.client()) {
          client.send(RawClient.post(CHAT, ASK_STREAM)).head();
          String first = client.event();
          if (first.equals(PING)) {
            go.countDown();
            first = next(client);
          }
          assertThat(first).contains("\"Hello\"");
          assertThat(client.event()).contains("\" you\"");
          assertThat(client.event()).isEqualTo("data: [DONE]\n\n");
          assertThat(client.event()).isNull();
          JsonNode line = gateway.logLine();
          assertThat(line.path("worker_id").asText()).isEqualTo(good.name());
          assertThat(line.path("status").asInt()).isEqualTo(200);
        }
      }
      assertThat(gateway.metric("kvasir_retries_total")).isEqualTo(1);
    }
  }

  @Test
  void withoutAnotherWorkerTheStreamEndsWithAnErrorEvent() {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(alive(PING, go, (request, link) -> link.reset()));
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      assertThat(client.event()).isEqualTo(PING);
      go.countDown();
      assertThat(next(client)).startsWith("data: {\"error\":{").contains("upstream_error");
      assertThat(client.isCut()).isTrue();
      assertThat(gateway.logLine().path("error").asText()).isNotEmpty();
      gateway.works();
    }
  }

  @Test
  void anErrorOfTheSecondWorkerEndsTheStream() {
    CountDownLatch go = new CountDownLatch(1);
    Script refuse =
        (request, link) -> link.json(400, "{\"error\":{\n\"message\":\"too long\",\"code\":400}}");
    try (ScriptedEngine bad =
            ScriptedEngine.start(alive(PING, go, (request, link) -> link.reset()));
        ScriptedEngine strict = ScriptedEngine.start(refuse);
        TestGateway gateway = TestGateway.of(bad, strict).router("round_robin").start()) {
      while (bad.received() == 0) {
        try (RawClient client = gateway.client()) {
          client.send(RawClient.post(CHAT, ASK_STREAM));
          if (client.head().status() == 200) {
            assertThat(client.event()).isEqualTo(PING);
            go.countDown();
            assertThat(next(client))
                .isEqualTo("data: {\"error\":{ \"message\":\"too long\",\"code\":400}}\n\n");
            assertThat(client.event()).isNull();
          }
        }
      }
    }
  }

  @Test
  void aSignOfLifeRestartsTheLimitForTheFirstByte() {
    Semaphore read = new Semaphore(1);
    CountDownLatch enough = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  while (enough.getCount() > 0) {
                    read.acquire();
                    link.chunk(PING);
                  }
                  finish(request, link);
                });
        TestGateway gateway = TestGateway.of(engine).firstByteTimeoutMs(LIMIT_MS).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MS + LIMIT_MS / 4);
      while (System.nanoTime() - endNs < 0) {
        assertThat(client.event()).isEqualTo(PING);
        read.release();
      }
      enough.countDown();
      read.release();
      String event = PING;
      while (event.isBlank() || event.equals(PING)) {
        event = client.event();
      }
      assertThat(event).contains("\"Hello\"");
    }
  }

  @Test
  void signsOfLifeWithoutDataHaveALimit() {
    Semaphore read = new Semaphore(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  if (request.streams()) {
                    link.stream();
                    while (true) {
                      read.acquire();
                      link.chunk(PING);
                    }
                  }
                  EngineLink.answer(request, link);
                });
        TestGateway gateway = TestGateway.of(engine).firstTokenTimeoutMs(700).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      String event = client.event();
      while (event.isBlank() || event.equals(PING)) {
        read.release();
        event = client.event();
      }
      assertThat(event).contains("upstream_timeout", "no data arrived for 700 milliseconds");
      assertThat(client.isCut()).isTrue();
      read.release(2); // ends the script
      assertThat(gateway.logLine().has("first_event_ms")).isFalse();
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
    }
  }

  @Test
  void dataEndsTheLimitForSignsOfLife() {
    Semaphore go = new Semaphore(0);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.chunk(PING);
                  link.token("Hello");
                  go.acquire();
                  link.endStream();
                });
        TestGateway gateway = TestGateway.of(engine).firstTokenTimeoutMs(300).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      String event = client.event();
      while (event.isBlank() || event.equals(PING)) {
        event = client.event();
      }
      assertThat(event).contains("Hello");
      long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(600);
      Await.until(() -> System.nanoTime() - endNs > 0);
      go.release();
      assertThat(client.event()).contains("[DONE]");
    }
  }

  @Test
  void commentsAreNoFirstToken() {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(alive(PING, go, (request, link) -> link.reset()));
        TestGateway gateway = TestGateway.of(engine).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      assertThat(client.event()).isEqualTo(PING);
      go.countDown();
      assertThat(client.isCut()).isTrue();
      assertThat(gateway.logLine().has("first_event_ms")).isFalse();
    }
  }

  @Test
  void anEngineThatFallsSilentAfterACommentIsGivenUp() {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  if (request.streams()) {
                    link.stream();
                    link.chunk(PING);
                    link.awaitGone();
                  } else {
                    EngineLink.answer(request, link);
                  }
                });
        TestGateway gateway = TestGateway.of(engine).firstByteTimeoutMs(300).start();
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM)).head();
      assertThat(client.event()).isEqualTo(PING);
      assertThat(next(client)).contains("upstream_timeout");
      assertThat(client.isCut()).isTrue();
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
    }
  }
}
