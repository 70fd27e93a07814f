package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import java.io.ByteArrayOutputStream;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections that close while they are paused: no buffer of Netty's pool is lost. */
class LeakTest {

  private static final String UPLOAD =
      String.join(
          "\r\n",
          "POST /v1/files HTTP/1.1",
          "Host: x",
          "Content-Type: audio/wav",
          "Content-Length: 99999999",
          "\r\n");

  private final Queue<String> leaks = new ConcurrentLinkedQueue<>();
  private final Level level = ResourceLeakDetector.getLevel();

  @BeforeEach
  void detectAll() {
    ResourceLeakDetector.setLevel(Level.PARANOID);
    ByteBufUtil.setLeakListener((type, records) -> leaks.add(type + records));
  }

  @AfterEach
  void restore() {
    ByteBufUtil.setLeakListener(null);
    ResourceLeakDetector.setLevel(level);
  }

  /** Finds the leaks so far: a buffer is reported when one is made after its collection. */
  private void assertNoLeaks() {
    for (int i = 0; i < 5; i++) {
      System.gc();
      PooledByteBufAllocator.DEFAULT.directBuffer(16).release();
      io.netty.buffer.ByteBufAllocator.DEFAULT.directBuffer(16).release();
    }
    assertThat(leaks).isEmpty();
  }

  @Test
  void readersThatGoWhileTheEngineIsPaused() throws Exception {
    String token = "x".repeat(1_000);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  for (int i = 0; i < 20_000; i++) {
                    link.token(token);
                  }
                });
        TestGateway gateway = TestGateway.of(engine).clientTimeoutMs(100).start()) {
      for (int i = 0; i < 2; i++) {
        try (RawClient client = RawClient.to(gateway.gateway().port(), 4_096)) {
          client.send(RawClient.post(CHAT, ASK_STREAM));
          client.head();
          assertThat(gateway.logLine().path("status").asInt()).isEqualTo(499);
        }
      }
      engine.script(EngineLink::answer);
      gateway.works();
      assertNoLeaks();
    }
  }

  @Test
  void clientsThatGoWithPipelinedRequests() {
    CountDownLatch go = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  Await.opened("the signal to go on", go);
                  EngineLink.answer(request, link);
                });
        TestGateway gateway = TestGateway.of(engine).start()) {
      ByteArrayOutputStream pipelined = new ByteArrayOutputStream();
      for (int i = 0; i < 50; i++) {
        pipelined.writeBytes(RawClient.post(CHAT, ASK.replace("Hi", "x".repeat(1_000))));
      }
      for (int i = 0; i < 20; i++) {
        RawClient client = gateway.client();
        client.send(pipelined.toByteArray());
        engine.next();
        client.reset();
      }
      go.countDown();
      engine.script(EngineLink::answer);
      gateway.works();
      assertNoLeaks();
    }
  }

  @Test
  void uploadsThatEndWhileTheyArePaused() {
    CountDownLatch done = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start( // reads nothing
                (request, link) -> Await.opened("the end of the test", done));
        TestGateway gateway = TestGateway.of(engine).eventLoops(1).start()) {
      engine.leavesBodiesUnread();
      for (int i = 0; i < 2; i++) {
        RawClient client = gateway.client();
        client.send(UPLOAD);
        client.sendUntilStuck(new byte[1 << 16], gateway::metrics);
        client.reset();
        assertThat(gateway.logLine().path("status").asInt()).isEqualTo(499);
      }
      done.countDown();
      assertNoLeaks();
    }
  }
}
