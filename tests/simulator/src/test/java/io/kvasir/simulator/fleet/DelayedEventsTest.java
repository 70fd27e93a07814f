package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DelayedEventsTest {

  private final DelayedEvents news = new DelayedEvents();
  private final List<String> told = new ArrayList<>();

  private void send(long dueNs, String piece) {
    news.send(dueNs, () -> told.add(piece));
  }

  @Test
  void nothingIsToldBeforeItsTime() {
    send(100, "a");
    news.tellUntil(99);
    assertThat(told).isEmpty();
    news.tellUntil(100);
    news.tellUntil(200);
    assertThat(told).containsExactly("a");
  }

  @Test
  void piecesComeByTimeAndThenByWhenTheyWereSent() {
    send(30, "c");
    send(20, "a");
    send(20, "b");
    send(40, "d");
    news.tellUntil(30);
    assertThat(told).containsExactly("a", "b", "c");
  }
}
