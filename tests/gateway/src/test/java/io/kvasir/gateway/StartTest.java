package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a gateway answers before its workers have. */
class StartTest {

  private static final String OTHER = ASK.replace("\"m\"", "\"other\"");

  @Test
  void modelsAreNotMissingWhileAWorkerHasNeverAnswered() {
    try (ScriptedEngine engine = ScriptedEngine.good()) {
      engine.healthy(false);
      try (TestGateway gateway = TestGateway.of(engine).healthEveryMs(20).start()) {
        isNotReady(gateway.post(CHAT, ASK));
        isNotReady(gateway.post(CHAT, ASK.replace("\"model\":\"m\",", "")));
        isNotReady(gateway.get("/v1/models"));
        isNotReady(gateway.get("/v1/models/m"));
        for (String path : List.of("/v1/other", "/v1/responses/resp_1", "/v1/files/file-1")) {
          isNotReady(gateway.get(path));
        }
        for (String path : List.of("/v1/responses", "/score", "/generate", "/tokenize")) {
          isNotReady(gateway.post(path, ASK));
        }
        isNotReady(gateway.get("/v1/other?model=m"));
        assertThat(gateway.get("/ready").status()).isEqualTo(503);
        engine.healthy(true);
        Await.until(() -> gateway.get("/ready").status() == 200);
        gateway.works();
        assertThat(gateway.get("/v1/models").text()).contains("\"m\"");
        assertThat(gateway.post(CHAT, OTHER).status()).isEqualTo(404);
        assertThat(gateway.get("/v1/models/other").status()).isEqualTo(404);
        engine.kill(); // it has answered once
        Await.until(() -> gateway.get("/ready").status() == 503);
        assertThat(gateway.post(CHAT, OTHER).status()).isEqualTo(404);
        assertThat(gateway.get("/v1/models").status()).isEqualTo(200);
      }
    }
  }

  @Test
  void aSilentWorkerMayServeAnUnknownModel() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        ScriptedEngine silent = ScriptedEngine.good()) {
      silent.healthy(false);
      try (TestGateway gateway = TestGateway.of(engine, silent).start()) {
        gateway.works();
        assertThat(gateway.get("/v1/models").text()).contains("\"m\"");
        isNotReady(gateway.post(CHAT, OTHER));
        isNotReady(gateway.post("/v1/rerank", OTHER));
        isNotReady(gateway.get("/v1/models/other"));
        isNotReady(gateway.get("/v1/other?model=other"));
        isNotReady(gateway.get("/v1/responses/resp_1"));
        assertThat(gateway.get("/v1/other").status()).as("any worker will do").isEqualTo(200);
        String form = "--b\r\ncontent-disposition: form-data; name=model\r\n\r\nother\r\n--b--\r\n";
        try (RawClient client = gateway.client()) {
          client.send(
              "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nContent-Length: "
                  + form.length()
                  + "\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n"
                  + form);
          isNotReady(client.reply());
        }
      }
    }
  }

  @Test
  void thePublicPortOpensWhenTheFirstChecksAreOver() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch answers =
        new CountDownLatch(1) {
          @Override
          public boolean await(long timeout, TimeUnit unit) throws InterruptedException {
            asked.countDown();
            return super.await(timeout, unit);
          }
        };
    try (ScriptedEngine engine = ScriptedEngine.good()) {
      engine.healthAfter(answers);
      CompletableFuture<TestGateway> starting =
          CompletableFuture.supplyAsync(() -> TestGateway.of(engine).port(port).start());
      Await.opened("the first check", asked);
      assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
          .isInstanceOf(ConnectException.class);
      assertThat(starting).isNotDone();
      answers.countDown();
      try (TestGateway gateway = Await.result("the start", starting)) {
        gateway.works();
        assertThat(gateway.get("/v1/models").text()).contains("\"m\"");
      }
    }
  }

  private static void isNotReady(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(503);
    assertThat(reply.code()).isEqualTo("no_endpoint");
    assertThat(reply.field("retry-after")).matches("[1-9][0-9]*");
  }
}
