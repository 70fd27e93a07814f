package io.kvasir.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DelayedEventsTest {

  private final DelayedEvents events = new DelayedEvents();
  private final List<String> done = new ArrayList<>();

  private void add(long dueNs, String name) {
    events.add(dueNs, () -> done.add(name));
  }

  @Test
  void nothingHappensBeforeItsTime() {
    add(100, "a");
    events.runUntil(99);
    assertThat(done).isEmpty();
    events.runUntil(100);
    events.runUntil(200);
    assertThat(done).containsExactly("a");
  }

  @Test
  void actionsRunByTimeAndThenInTheOrderOfAddition() {
    add(30, "c");
    add(20, "a");
    add(20, "b");
    add(40, "d");
    events.runUntil(30);
    assertThat(done).containsExactly("a", "b", "c");
  }
}
