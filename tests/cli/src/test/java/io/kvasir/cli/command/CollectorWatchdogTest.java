package io.kvasir.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a process ends because it does little but collect garbage. */
class CollectorWatchdogTest {

  private final List<String> messages = new ArrayList<>();
  private long nowMs = 5_000;
  private long collectionMs = 1_000;
  private final CollectorWatchdog watchdog =
      new CollectorWatchdog(() -> nowMs * 1_000_000, () -> collectionMs, 90, messages::add);

  private void pass(int seconds, int ofEach) {
    for (int i = 0; i < seconds; i++) {
      watchdog.check();
      nowMs += 1_000;
      collectionMs += ofEach;
    }
  }

  @Test
  void aFullHeapEndsTheProcess() {
    pass(30, 950);
    assertThat(messages).isEmpty();
    pass(1, 950);
    assertThat(messages).hasSize(1);
    assertThat(messages.get(0)).contains("95 % of the last 30 seconds", "kvasir.gc.time.limit");
  }

  @Test
  void aBusyOrShortlyStoppedProcessGoesOn() {
    pass(100, 500);
    pass(20, 1_000);
    pass(100, 0);
    pass(100, 900);
    assertThat(messages).isEmpty();
  }

  @Test
  void onlyTheLastWindowCounts() {
    pass(3_600, 0);
    pass(28, 1_000);
    assertThat(messages).isEmpty();
    pass(5, 1_000);
    assertThat(messages).isNotEmpty();
  }

  @Test
  void aLongStopCountsAsAWhole() {
    watchdog.check();
    nowMs += 60_000; // the check itself was stopped
    collectionMs += 59_000;
    watchdog.check();
    assertThat(messages).hasSize(1);
    assertThat(messages.get(0)).contains("98 % of the last 60 seconds");
  }
}
