package io.kvasir.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which threads' ends are the end of the process. */
class LastResortTest {

  private final List<Integer> halts = new ArrayList<>();
  private final LastResort lastResort = new LastResort(halts::add);

  private void end(String name, Throwable cause) {
    Thread thread =
        new Thread(
            () -> {
              if (cause instanceof Error error) {
                throw error;
              }
              throw (RuntimeException) cause;
            },
            name);
    thread.setUncaughtExceptionHandler(lastResort);
    thread.start();
    Await.end(thread);
  }

  @Test
  void aThreadThatMustLiveEndsTheProcess() {
    for (String name :
        new String[] {"kvasir-replicas", "iothread-2", "reaper-1", "vert.x-eventloop-thread-0"}) {
      end(name, new IllegalStateException("for the test"));
    }
    assertThat(halts).containsOnly(LastResort.EXIT_STATUS).hasSize(4);
  }

  @Test
  void anErrorOfTheVirtualMachineEndsTheProcess() {
    end("any", new OutOfMemoryError("for the test"));
    end("any", new StackOverflowError("for the test"));
    assertThat(halts).hasSize(2);
  }

  @Test
  void anotherThreadDoesNot() {
    end("ForkJoinPool.commonPool-worker-1", new IllegalStateException("for the test"));
    assertThat(halts).isEmpty();
  }
}
