package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bodies that pass the gateway unread, while they arrive. */
class UploadsTest {

  private static final int UPLOAD_BYTES = 5 << 20;

  /** So much of an upload that the gateway passes it on. */
  private static final String BEGINNING = "x".repeat(70_000);

  private static String upload(String length) {
    return "POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Type: audio/wav\r\n"
        + length
        + "\r\n\r\n";
  }

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
  void uploadsPassUnread() {
    byte[] upload = new byte[UPLOAD_BYTES];
    new Random(1).nextBytes(upload);
    try (TestGateway gateway = gateway("");
        RawClient client = gateway.client()) {
      String head =
          String.join(
              "\r\n",
              "POST /v1/audio/transcriptions?a=b%20c HTTP/1.1",
              "Host: x",
              "Content-Type: multipart/form-data; boundary=xyz",
              "");
      client.send(head + "Content-Length: " + upload.length + "\r\n\r\n").send(upload);
      assertThat(client.reply().status()).isEqualTo(200);
      Received request = engine.next();
      assertThat(request.target()).isEqualTo("/v1/audio/transcriptions?a=b%20c");
      assertThat(request.field("content-type")).isEqualTo("multipart/form-data; boundary=xyz");
      assertThat(request.field("content-length")).isEqualTo(Integer.toString(upload.length));
      assertThat(request.body()).isEqualTo(upload);

      client.send(head + "Transfer-Encoding: chunked\r\n\r\n");
      int chunk = 100_003;
      for (int from = 0; from < upload.length; from += chunk) {
        int size = Math.min(chunk, upload.length - from);
        client.send(Integer.toHexString(size) + "\r\n");
        client.send(java.util.Arrays.copyOfRange(upload, from, from + size)).send("\r\n");
      }
      client.send("0\r\n\r\n");
      assertThat(client.reply().status()).isEqualTo(200);
      request = engine.next();
      assertThat(request.field("transfer-encoding")).isEqualTo("chunked");
      assertThat(request.body()).isEqualTo(upload);
      assertThat(gateway.metric("kvasir_body_bytes")).isZero();
    }
  }

  @Test
  void aSlowUploadIsTheClientsFault() {
    try (TestGateway gateway =
            TestGateway.of(engine).bodyTimeoutMs(300).breaker(1, 60_000).start();
        RawClient client = gateway.client()) {
      engine.leavesBodiesUnread();
      engine.script((request, link) -> link.body());
      client.send(upload("Content-Length: 80000")).send(BEGINNING);
      engine.next();
      Reply reply = client.reply();
      assertThat(reply.status()).isEqualTo(408);
      assertThat(reply.code()).isEqualTo("body_timeout");
      assertThat(gateway.logLine().path("status").asInt()).isEqualTo(408);
      engine.script(
          (request, link) -> {
            link.body();
            EngineLink.answer(request, link);
          });
      gateway.works(); // the breaker is closed
    }
  }

  @Test
  void aBadChunkInAnUploadIs400() {
    try (TestGateway gateway = gateway("");
        RawClient client = gateway.client()) {
      engine.leavesBodiesUnread();
      engine.script((request, link) -> link.body());
      client.send(upload("Transfer-Encoding: chunked"));
      client.send(Integer.toHexString(BEGINNING.length()) + "\r\n" + BEGINNING + "\r\n");
      engine.next();
      client.send("zz\r\n");
      assertThat(client.reply().status()).isEqualTo(400);
      assertThat(client.isClosed()).isTrue();
      assertThat(gateway.logLine().path("status").asInt()).isEqualTo(400);
    }
  }

  @Test
  void anUploadThatIsAnsweredEarlyEndsAtBothSides() {
    CountDownLatch gone = new CountDownLatch(1);
    try (TestGateway gateway = gateway("");
        RawClient client = gateway.client()) {
      engine.leavesBodiesUnread();
      engine.script(
          (request, link) -> {
            link.json(413, "{}");
            link.awaitEnd();
            gone.countDown();
          });
      client.send(upload("Content-Length: 1000000")).send(BEGINNING);
      assertThat(client.reply().status()).isEqualTo(413);
      Await.opened("the connection has ended", gone);
      client.trySend(
          "x".repeat(1_000_000 - BEGINNING.length()).getBytes(StandardCharsets.US_ASCII));
      assertThat(client.isClosed()).isTrue();
    }
  }

  @Test
  void aReplyInPartsToAnUnfinishedUploadEnds() throws IOException {
    CountDownLatch seen = new CountDownLatch(1);
    try (TestGateway gateway = gateway("");
        RawClient client = gateway.client()) {
      engine.leavesBodiesUnread();
      engine.script(
          (request, link) -> {
            link.head(413, "Content-Length: 4");
            link.raw("ab");
            Await.opened("the first part is seen", seen);
            link.raw("cd");
          });
      client.send(upload("Content-Length: 1000000")).send(BEGINNING);
      assertThat(client.head().status()).isEqualTo(413);
      assertThat(client.bodyByte()).isEqualTo('a');
      assertThat(client.bodyByte()).isEqualTo('b');
      seen.countDown();
      assertThat(client.bodyByte()).isEqualTo('c');
      assertThat(client.bodyByte()).isEqualTo('d');
      client.trySend(
          "x".repeat(1_000_000 - BEGINNING.length()).getBytes(StandardCharsets.US_ASCII));
      assertThat(client.isClosed()).isTrue();
    }
  }

  @Test
  void aGetWithABodyIsNotRepeatedWithoutIt() {
    try (ScriptedEngine other = ScriptedEngine.start((request, link) -> link.reset());
        TestGateway gateway = TestGateway.of(engine, other).start();
        RawClient client = gateway.client()) {
      engine.script((request, link) -> link.reset());
      client.send(upload("Content-Length: 3").replace("POST", "GET") + "abc");
      assertThat(client.reply().status()).isEqualTo(502);
      assertThat(engine.received() + other.received()).isEqualTo(1);
      client.send("GET /v1/files HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.reply().status()).isEqualTo(502);
      assertThat(engine.received() + other.received()).isEqualTo(3);
    }
  }
}
