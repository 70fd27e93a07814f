package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.proxy.ClientLimits;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one client cannot take from the others: budget, places in service and connections. */
class ClientShareTest {

  private static final String OTHER = "127.0.0.2";
  private static final int MIB = 1 << 20;

  private final ScriptedEngine engine = ScriptedEngine.good();
  private final List<RawClient> clients = new ArrayList<>();

  @AfterEach
  void stop() {
    clients.forEach(RawClient::close);
    engine.close();
  }

  private RawClient client(TestGateway gateway) {
    RawClient client = gateway.client();
    clients.add(client);
    return client;
  }

  private static void worksForOthers(TestGateway gateway) {
    try (RawClient other = RawClient.from(OTHER, gateway.gateway().port())) {
      assertThat(other.send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
    }
  }

  private static String upload(long length) {
    return "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\n"
        + "Content-Type: application/octet-stream\r\nContent-Length: "
        + length
        + "\r\n\r\n";
  }

  @Test
  void announcedBodiesTakeNothing() {
    try (TestGateway gateway = TestGateway.of(engine).bodyBudget(64L * MIB).start()) {
      for (int i = 0; i < 20; i++) {
        client(gateway)
            .send(
                "POST " + CHAT + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + 8 * MIB + "\r\n\r\n");
      }
      for (int i = 0; i < 5; i++) {
        gateway.works();
      }
      assertThat(gateway.metric("kvasir_body_bytes")).isZero();
      assertThat(gateway.metric("kvasir_connections")).isGreaterThanOrEqualTo(20);
    }
  }

  @Test
  void bodiesThatOneClientHoldsLeaveRoomForOthers() {
    try (TestGateway gateway =
        TestGateway.of(engine)
            .bodyBudget(32L * MIB)
            .clients(new ClientLimits(0.25, 1_000, 60_000, 1))
            .start()) {
      String head =
          "POST " + CHAT + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + 8 * MIB + "\r\n\r\n";
      client(gateway).send(head).send("x".repeat(5 * MIB));
      Await.until(() -> gateway.metric("kvasir_body_bytes") >= 5 * MIB);
      RawClient second = client(gateway);
      second.send(head).trySend(new byte[5 * MIB]);
      Reply refused = second.reply();
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.code()).isEqualTo("body_budget_exhausted");
      worksForOthers(gateway);
      clients.forEach(RawClient::close);
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
      gateway.works();
    }
  }

  @Test
  void uploadsTakeNoPlaceAndNoConnectionBeforeTheirBeginningIsHere() {
    try (TestGateway gateway = TestGateway.of(engine).queue(4, 0).start()) {
      for (int i = 0; i < 8; i++) {
        client(gateway).send(upload(100 * MIB)).send("-");
      }
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 8);
      for (int i = 0; i < 5; i++) {
        gateway.works();
      }
      assertThat(gateway.metric("kvasir_num_requests_running")).isZero();
      assertThat(engine.received()).isEqualTo(5);
    }
  }

  @Test
  void uploadsInServiceAreASharePerClient() {
    CountDownLatch begun = new CountDownLatch(2);
    engine.leavesBodiesUnread();
    engine.script(
        (request, link) -> {
          begun.countDown();
          link.awaitEnd();
        });
    try (TestGateway gateway =
        TestGateway.of(engine)
            .queue(4, 4)
            .clients(new ClientLimits(0.5, 1_000, 60_000, 1))
            .start()) {
      for (int i = 0; i < 2; i++) {
        client(gateway).send(upload(100 * MIB)).send("-".repeat(70_000));
      }
      Await.opened("both uploads have begun", begun);
      Reply refused = client(gateway).send(upload(100 * MIB)).send("-".repeat(70_000)).reply();
      assertThat(refused.status()).as(refused.text()).isEqualTo(429);
      assertThat(refused.code()).isEqualTo("client_uploads");
      clients.forEach(RawClient::close);
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
      Await.until(() -> gateway.metric("kvasir_body_bytes") == 0);
    }
  }

  @Test
  void anUploadKeepsItsPlaceWhileItsReplyStreams() {
    engine.leavesBodiesUnread();
    engine.script(
        (request, link) -> {
          link.stream();
          link.chunk("early");
          link.awaitEnd();
        });
    try (TestGateway gateway =
        TestGateway.of(engine)
            .queue(8, 8)
            .clients(new ClientLimits(0.25, 1_000, 60_000, 1))
            .start()) {
      for (int i = 0; i < 2; i++) {
        RawClient client = client(gateway).send(upload(100 * MIB)).send("-".repeat(70_000));
        assertThat(client.head().status()).isEqualTo(200);
      }
      Reply refused = client(gateway).send(upload(100 * MIB)).send("-".repeat(70_000)).reply();
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.code()).isEqualTo("client_uploads");
      clients.get(0).send(new byte[MIB]).close();
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 1);
      RawClient next = client(gateway).send(upload(100 * MIB)).send("-".repeat(70_000));
      assertThat(next.head().status()).isEqualTo(200);
    }
  }

  @Test
  void anUploadThatDribblesEnds() {
    engine.leavesBodiesUnread();
    engine.script((request, link) -> link.awaitEnd());
    AtomicBoolean over = new AtomicBoolean();
    try (TestGateway gateway =
        TestGateway.of(engine)
            .bodyTimeoutMs(300)
            .clients(new ClientLimits(1, 1_000, 60_000, 4 * MIB))
            .start()) {
      RawClient slow = client(gateway);
      slow.send(upload(100 * MIB)).send("-".repeat(70_000));
      Thread dribble =
          new Thread(
              () -> {
                while (!over.get()) {
                  slow.trySend(new byte[] {'-'});
                  gateway.metrics(); // the byte has arrived before
                }
              });
      dribble.start();
      Reply reply = slow.reply();
      over.set(true);
      Await.end(dribble);
      assertThat(reply.status()).isEqualTo(408);
      assertThat(reply.code()).isEqualTo("body_timeout");
      assertThat(reply.message()).contains("bytes a second");
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
    } finally {
      over.set(true);
    }
  }

  @Test
  void connectionsOfOneClientLeaveSomeForOthers() {
    try (TestGateway gateway =
        TestGateway.of(engine).clients(new ClientLimits(0.5, 10, 60_000, 1)).start()) {
      for (int i = 0; i < 5; i++) {
        assertThat(client(gateway).send(RawClient.post(CHAT, ASK)).reply().status()).isEqualTo(200);
      }
      assertThat(client(gateway).trySend(RawClient.post(CHAT, ASK)).isClosed()).isTrue();
      worksForOthers(gateway);
      clients.get(0).close();
      Await.until(() -> gateway.metric("kvasir_connections") == 4);
      gateway.works();
    }
  }
}
