package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.BodyHold;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The threads that handle large bodies live, and end with the gateway. */
class BodyThreadsTest {

  private final BodyBudget budget = new BodyBudget(1_000);

  /** Another thread would mean that the first one has died, which ends the process. */
  @ParameterizedTest
  @ValueSource(classes = {RejectedExecutionException.class, IllegalStateException.class})
  void anExceptionEndsNoThread(Class<? extends RuntimeException> type) throws Exception {
    RuntimeException thrown = type.getConstructor().newInstance();
    List<Thread> ran = new ArrayList<>();
    CountDownLatch done = new CountDownLatch(1);
    try (BodyThreads threads = new BodyThreads(1, 2)) {
      threads.run(
          budget.open("a"),
          () -> {
            ran.add(Thread.currentThread());
            throw thrown;
          });
      threads.run(
          budget.open("b"),
          () -> {
            ran.add(Thread.currentThread());
            done.countDown();
          });
      Await.opened("the end of the task", done);
      assertThat(ran.get(1)).isSameAs(ran.get(0));
    }
  }

  @Test
  void whatAThreadWorksOnCountsUntilItIsDone() {
    BodyHold hold = budget.open("a");
    assertThat(hold.take(100)).isTrue();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    try (BodyThreads threads = new BodyThreads(1, 1)) {
      assertThat(
              threads.run(
                  hold,
                  () -> {
                    begun.countDown();
                    Await.opened("the signal to go on", go);
                  }))
          .isTrue();
      Await.opened("the beginning of the task", begun);
      hold.release();
      assertThat(hold.take(1)).isFalse();
      assertThat(budget.used()).isEqualTo(100);
      assertThat(threads.run(budget.open("b"), () -> {})).isTrue();
      assertThat(threads.run(budget.open("c"), () -> {})).as("a third task").isFalse();
      CountDownLatch after = new CountDownLatch(1);
      go.countDown();
      Await.until("room for a task", () -> threads.run(budget.open("d"), after::countDown));
      Await.opened("the end of another task", after);
      assertThat(budget.used()).isZero();
    }
  }

  @Test
  void oneClientLeavesRoomForOthers() {
    CountDownLatch go = new CountDownLatch(1);
    try (BodyThreads threads = new BodyThreads(1, 4)) {
      for (int i = 0; i < 2; i++) {
        assertThat(
                threads.run(budget.open("greedy"), () -> Await.opened("the signal to go on", go)))
            .isTrue();
      }
      assertThat(threads.run(budget.open("greedy"), () -> {})).isFalse();
      CountDownLatch other = new CountDownLatch(1);
      assertThat(threads.run(budget.open("other"), other::countDown)).isTrue();
      go.countDown();
      Await.opened("the other client's task", other);
      assertThat(threads.run(budget.open("greedy"), () -> {})).isTrue();
    }
  }

  @Test
  void closeWaitsForWhatRuns() {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    BodyThreads threads = new BodyThreads(1, 1);
    Thread closer = new Thread(threads::close);
    boolean[] awaited = {false};
    CountDownLatch done = new CountDownLatch(1);
    threads.run(
        budget.open("a"),
        () -> {
          begun.countDown();
          try {
            never.await();
          } catch (InterruptedException e) { // it is being closed
            Thread.State state = closer.getState();
            while (state != Thread.State.TIMED_WAITING && state != Thread.State.TERMINATED) {
              Thread.onSpinWait();
              state = closer.getState();
            }
            awaited[0] = state == Thread.State.TIMED_WAITING;
          }
          done.countDown();
        });
    Await.opened("the beginning of the task", begun);
    closer.start();
    Await.end(closer);
    Await.opened("the end of the task", done);
    assertThat(awaited[0]).isTrue();
  }
}
