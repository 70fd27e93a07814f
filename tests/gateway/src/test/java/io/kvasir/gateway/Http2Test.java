package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.TestCertificates;
import io.vertx.core.http.HttpMethod;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HTTP/2 at the public port: each stream is a request, and its fate is its own. */
@Tag("process")
class Http2Test {

  private static final int EVENTS = 4_000;
  private static final int LARGE_REPLY = 100_000;
  private static final int UNREAD = 120;
  private static final String[] HEAD = {
    ":method", "POST", ":scheme", "https", ":path", TestGateway.CHAT, ":authority", "x"
  };
  private static final String[] JSON = {"content-type", "application/json"};

  @TempDir private static Path folder;
  private static KeyStore keys;
  private static TlsFiles files;

  @BeforeAll
  static void makeCertificate() {
    TestCertificates certificates = new TestCertificates(folder);
    keys = certificates.keys("server", "EC");
    files =
        new TlsFiles(
            certificates.certificate("server", keys), certificates.key("server", keys), null);
  }

  private static TestGateway gateway(ScriptedEngine... engines) {
    return TestGateway.of(engines).tls(files).start();
  }

  private static StreamClient client(TestGateway gateway) {
    return StreamClient.to(gateway.gateway().port());
  }

  private static void isIdle(TestGateway gateway) {
    Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
    Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
  }

  @Test
  void clientsThatOfferItAreServed() throws Exception {
    HttpClient http =
        HttpClient.newBuilder().sslContext(TestCertificates.context(null, keys)).build();
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine)) {
      for (String body : List.of(ASK, ASK_STREAM)) {
        HttpResponse<String> reply =
            http.send(
                HttpRequest.newBuilder(
                        URI.create("https://localhost:" + gateway.gateway().port() + CHAT))
                    .header("content-type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(reply.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
        assertThat(reply.body()).contains("you").contains(body.equals(ASK) ? "usage" : "[DONE]");
        ScriptedEngine.Received received = engine.next();
        assertThat(received.head().fields().keySet()).noneMatch(field -> field.startsWith(":"));
        assertThat(received.field("host")).isEqualTo(engine.name());
      }
    }
  }

  @Test
  void aBodyNeedNotStateItsLength() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).tls(files).passPaths("/custom").start();
        StreamClient client = client(gateway)) {
      StreamClient.Reply reply =
          client.begin(HttpMethod.POST, "/custom/x", "Hello ", "content-type", "text/plain");
      reply.send("there");
      assertThat(reply.status()).isEqualTo(200);
      assertThat(engine.next().text()).isEqualTo("Hello there");
      assertThat(client.send(HttpMethod.POST, "/custom/y", "").status()).isEqualTo(200);
      assertThat(engine.next().text()).isEmpty();
      StreamClient.Reply ask = client.begin(HttpMethod.POST, CHAT, ASK.substring(0, 5), JSON);
      ask.send(ASK.substring(5));
      assertThat(ask.whole()).contains("Hello you");
      isIdle(gateway);
    }
  }

  @Test
  void aHundredStreamsShareAConnection() {
    int streams = 100;
    CountDownLatch arrived = new CountDownLatch(streams);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  arrived.countDown();
                  Await.opened("all streams", arrived);
                  EngineLink.answer(request, link);
                });
        TestGateway gateway = gateway(engine);
        StreamClient client = client(gateway)) {
      List<StreamClient.Reply> replies = new ArrayList<>();
      for (int i = 0; i < streams; i++) {
        replies.add(client.ask(ASK_STREAM));
      }
      for (StreamClient.Reply reply : replies) {
        assertThat(reply.whole()).contains("Hello").endsWith("data: [DONE]\n\n");
        assertThat(reply.status()).isEqualTo(200);
      }
      isIdle(gateway);
    }
  }

  @Test
  void aCancelledStreamEndsItsRequestAndNoOther() {
    CountDownLatch go = new CountDownLatch(1);
    CountDownLatch gone = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.token("Hello");
                  if (request.text().contains("leaves")) {
                    link.awaitGone();
                    gone.countDown();
                  } else {
                    Await.opened("the signal to go on", go);
                    link.token(" you");
                    link.endStream();
                  }
                });
        TestGateway gateway = gateway(engine);
        StreamClient client = client(gateway)) {
      StreamClient.Reply stays = client.ask(ASK_STREAM);
      StreamClient.Reply leaves = client.ask(ASK_STREAM.replace("Hi", "leaves"));
      stays.await("Hello");
      leaves.await("Hello");
      assertThat(gateway.metric("kvasir_num_requests_running")).isEqualTo(2);
      leaves.cancel();
      Await.opened("the end at the engine", gone);
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 1);
      go.countDown();
      assertThat(stays.whole()).contains(" you").endsWith("data: [DONE]\n\n");
      isIdle(gateway);
    }
  }

  @Test
  void anEngineThatFailsCutsItsStreamAndNoOther() {
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.token("Hello");
                  link.reset();
                });
        TestGateway gateway = gateway(engine);
        StreamClient client = client(gateway)) {
      StreamClient.Reply cut = client.ask(ASK_STREAM);
      assertThat(cut.isCut()).isTrue();
      assertThat(cut.text()).contains("Hello").contains("\"error\"");
      engine.script(EngineLink::answer);
      assertThat(client.ask(ASK_STREAM).whole()).endsWith("data: [DONE]\n\n");
      isIdle(gateway);
    }
  }

  @Test
  void aFloodOfResetsEndsItsConnectionAndHarmsNoOther() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine);
        StreamClient other = client(gateway);
        StreamClient flood = client(gateway)) {
      int resets = 0;
      while (!flood.goesAway()) {
        flood.openAndReset(CHAT);
        if (++resets % 200 == 0) {
          assertThat(other.ask(ASK_STREAM).whole()).endsWith("data: [DONE]\n\n");
        }
      }
      assertThat(resets).isGreaterThan(1_000);
      flood.awaitClosed();
      assertThat(other.ask(ASK).whole()).contains("Hello you");
      isIdle(gateway);
      assertThat(other.isClosed()).isFalse();
    }
  }

  @Test
  void aRefusedBodyEndsNoConnection() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).tls(files).maxBodyBytes(2_000).start();
        StreamClient client = client(gateway)) {
      for (int i = 0; i < 10; i++) {
        StreamClient.Reply refused =
            client.begin(HttpMethod.POST, CHAT, "x".repeat(1_000), "content-length", "1000000");
        assertThat(refused.status()).isEqualTo(413);
        assertThat(refused.whole()).contains("2000");
        assertThat(client.ask(ASK).whole()).contains("Hello you");
      }
      assertThat(client.send(HttpMethod.GET, "/v1/models", "").whole()).contains("\"m\"");
      isIdle(gateway);
    }
  }

  @Test
  void aClientThatDoesNotReadLosesItsStreamOnly() {
    try (ScriptedEngine engine = ScriptedEngine.start(Http2Test::answerMuch);
        TestGateway gateway = TestGateway.of(engine).tls(files).clientTimeoutMs(300).start();
        StreamClient client = client(gateway)) {
      StreamClient.Reply stuck = client.pausedAsk(ASK_STREAM);
      assertThat(stuck.status()).isEqualTo(200);
      Await.until(() -> gateway.logLines() > 0);
      JsonNode line = gateway.logLine();
      assertThat(line.path("error").asText()).contains("client");
      assertThat(line.path("protocol").asText()).isEqualTo("HTTP/2");
      engine.script(EngineLink::answer);
      assertThat(client.ask(ASK_STREAM).whole()).endsWith("data: [DONE]\n\n");
      stuck.resume();
      assertThat(stuck.isCut()).isTrue();
      isIdle(gateway);
    }
  }

  @Test
  void aStreamThatWaitsForItsClientLosesNothing() {
    try (ScriptedEngine engine = ScriptedEngine.start(Http2Test::answerMuch);
        TestGateway gateway = gateway(engine);
        StreamClient client = client(gateway);
        StreamClient other = client(gateway)) {
      StreamClient.Reply slow = client.pausedAsk(ASK_STREAM);
      assertThat(slow.status()).isEqualTo(200);
      assertThat(other.ask(ASK_STREAM).whole()).hasSizeGreaterThan(EVENTS * 1_000);
      slow.resume();
      assertThat(slow.whole()).hasSizeGreaterThan(EVENTS * 1_000).endsWith("data: [DONE]\n\n");
      isIdle(gateway);
    }
  }

  /** Several connections hold more than what may wait, of one event loop. */
  @Test
  void repliesThatAreNotReadAreBoundedTogether() {
    byte[] noWindow = {0, 4, 0, 0, 0, 0}; // SETTINGS_INITIAL_WINDOW_SIZE
    String body = "{\"content\":\"" + "x".repeat(LARGE_REPLY) + "\"}";
    try (ScriptedEngine engine = ScriptedEngine.start((request, link) -> link.json(200, body));
        TestGateway gateway = TestGateway.of(engine).tls(files).eventLoops(1).start();
        StreamClient reading = client(gateway);
        RawStreams first = new RawStreams(TestCertificates.context(null, keys), port(gateway));
        RawStreams second = new RawStreams(TestCertificates.context(null, keys), port(gateway))) {
      for (RawStreams each : List.of(first, second)) {
        assertThat(each.frame(RawStreams.SETTINGS, 0, 0, noWindow)).isTrue();
        for (int i = 0; i < UNREAD; i++) {
          assertThat(each.send(1 + 2 * i, ASK, HEAD)).isTrue();
        }
      }
      first.awaitReset();
      assertThat(reading.ask(ASK).whole()).isEqualTo(body);
      isIdle(gateway);
    }
  }

  private static int port(TestGateway gateway) {
    return gateway.gateway().port();
  }

  private static void answerMuch(ScriptedEngine.Received request, EngineLink link)
      throws IOException {
    link.stream();
    for (int i = 0; i < EVENTS; i++) {
      link.token("x".repeat(1_000));
    }
    link.endStream();
  }

  @Test
  void aStopLetsStreamsEndAndTakesNoOthers() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.token("Hello");
                  Await.opened("the signal to go on", go);
                  link.token(" you");
                  link.endStream();
                });
        TestGateway gateway = gateway(engine);
        StreamClient client = client(gateway);
        StreamClient idle = client(gateway)) {
      StreamClient.Reply running = client.ask(ASK_STREAM);
      running.await("Hello");
      CountDownLatch grace = new CountDownLatch(1);
      CompletableFuture<Integer> cut =
          CompletableFuture.supplyAsync(() -> gateway.gateway().stop(grace::await));
      assertThat(client.goAway().getErrorCode()).isZero();
      assertThat(client.goAway().getLastStreamId()).isPositive();
      idle.awaitClosed();
      try (StreamClient late = client(gateway)) { // in the grace
        StreamClient.Reply last = late.ask(ASK_STREAM);
        go.countDown();
        assertThat(last.whole()).contains(" you").endsWith("data: [DONE]\n\n");
        late.awaitClosed();
      }
      assertThat(running.whole()).contains(" you").endsWith("data: [DONE]\n\n");
      client.awaitClosed();
      grace.countDown();
      assertThat(cut.get()).isZero();
    }
  }

  @Test
  void newCertificatesUnderLoadFailNoRequest() throws Exception {
    TestCertificates certificates = new TestCertificates(folder);
    KeyStore second = certificates.keys("second", "RSA");
    TlsFiles changing =
        new TlsFiles(
            certificates.certificate("changing", keys), certificates.key("changing", keys), null);
    AtomicBoolean over = new AtomicBoolean();
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).tls(changing).start();
        StreamClient stays = client(gateway)) {
      CompletableFuture<Integer> load =
          CompletableFuture.supplyAsync(
              () -> {
                int served = 0;
                while (!over.get()) {
                  assertThat(stays.ask(ASK_STREAM).whole()).endsWith("data: [DONE]\n\n");
                  try (StreamClient comes = client(gateway)) {
                    assertThat(comes.ask(ASK).whole()).contains("Hello you");
                  }
                  served++;
                }
                return served;
              });
      for (int i = 0; i < 20; i++) {
        KeyStore next = i % 2 == 0 ? second : keys;
        certificates.certificate("changing", next);
        certificates.key("changing", next);
        gateway.gateway().reloadTls();
      }
      over.set(true);
      assertThat(load.get()).isPositive();
    }
  }
}
