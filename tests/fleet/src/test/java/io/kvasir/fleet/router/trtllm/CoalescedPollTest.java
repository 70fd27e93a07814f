package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** KA15 of the conformance vectors. */
class CoalescedPollTest {

  private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
  private int runs;
  private Runnable duringRun = () -> {};
  private final CoalescedPoll poll =
      new CoalescedPoll(
          queue::add,
          () -> {
            runs++;
            duringRun.run();
          });

  @Test
  void twoRequestsBeforeTheStartAreOneTask() {
    poll.request();
    poll.request();
    assertThat(queue).hasSize(1);
    queue.remove().run();
    assertThat(runs).isEqualTo(1);
    assertThat(queue).isEmpty();
    assertThat(poll.pending()).isFalse();
  }

  @Test
  void requestsDuringARunAreOneMoreRun() {
    poll.request();
    duringRun =
        () -> {
          poll.request();
          poll.request();
          assertThat(queue).as("never two at once").isEmpty();
        };
    queue.remove().run();
    duringRun = () -> {};
    assertThat(queue).hasSize(1);
    queue.remove().run();
    assertThat(queue).isEmpty();
    assertThat(runs).isEqualTo(2);
  }

  @Test
  void aRequestAfterARunIsANewTask() {
    poll.request();
    queue.remove().run();
    poll.request();
    queue.remove().run();
    assertThat(runs).isEqualTo(2);
  }

  @Test
  void cancellingDropsWhatIsPending() {
    poll.request();
    poll.cancel();
    assertThat(poll.pending()).isFalse();
    queue.remove().run();
    poll.request();
    assertThat(runs).isZero();
    assertThat(queue).isEmpty();
  }

  @Test
  void cancellingDuringARunDropsTheNext() {
    poll.request();
    duringRun =
        () -> {
          poll.request();
          poll.cancel();
        };
    queue.remove().run();
    assertThat(queue).isEmpty();
    assertThat(poll.pending()).isFalse();
  }

  @Test
  void aRefusedTaskCanBeAskedForAgain() {
    boolean[] refuse = {true};
    CoalescedPoll refused =
        new CoalescedPoll(
            task -> {
              if (refuse[0]) {
                throw new RejectedExecutionException("full");
              }
              queue.add(task);
            },
            () -> runs++);
    assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(refused::request);
    refuse[0] = false;
    refused.request();
    queue.remove().run();
    assertThat(runs).isEqualTo(1);
  }
}
