package io.kvasir.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The end of a warm-up. */
class WarmUpClientsTest {

  @Test
  void aClientWithoutAnAnswerDoesNotKeepTheStart() {
    CountDownLatch answer = new CountDownLatch(1);
    Thread client = new Thread(() -> Await.opened("the answer", answer), "client");
    client.setDaemon(true);
    client.start();
    Await.call(
        "the end of the warm-up",
        () -> {
          WarmUp.join(List.of(client), System.nanoTime() + 1_000_000);
          return true;
        });
    assertThat(client.isAlive()).isTrue();
    answer.countDown();
    Await.end(client);
  }
}
