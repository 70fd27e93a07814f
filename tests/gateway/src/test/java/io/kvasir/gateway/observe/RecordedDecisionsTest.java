package io.kvasir.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The ring of the last decisions. */
class RecordedDecisionsTest {

  private static final int ADDERS = 4;
  private static final int EACH = 20_000;

  private static RecordedDecision.Choice choice(String id) {
    return new RecordedDecision.Choice(
        id,
        "chat_completions",
        "m",
        RecordedDecision.WHOLE,
        1,
        true,
        "w",
        0,
        "cost",
        0,
        10,
        2,
        0,
        Double.NaN,
        Map.of());
  }

  @Test
  void anOutcomeIsReadFromTheSameDecision() {
    RecordedDecisions log = new RecordedDecisions();
    RecordedDecision added = log.add(choice("a"));
    RecordedDecision read = log.newest(any -> true, 1).get(0);
    assertThat(read.firstTokenMs()).isNaN();
    assertThat(read.cachedTokens()).isNegative();
    assertThat(read.status()).isZero();
    added.onRank(3);
    added.onFirstToken(System.nanoTime());
    added.onUsage(-1, 4);
    added.onOver(200);
    assertThat(read.dpRank()).isEqualTo(3);
    assertThat(read.firstTokenMs()).isPositive();
    assertThat(read.promptTokens()).as("the engine has stated none").isEqualTo(10);
    assertThat(read.cachedTokens()).isEqualTo(4);
    assertThat(read.status()).isEqualTo(200);
  }

  @Test
  void readersSeeTheNewestInOrderWhileOthersAdd() throws InterruptedException {
    RecordedDecisions log = new RecordedDecisions();
    List<Thread> adders = new ArrayList<>();
    for (int i = 0; i < ADDERS; i++) {
      String id = "id-" + i;
      Thread adder =
          new Thread(
              () -> {
                for (int n = 0; n < EACH; n++) {
                  log.add(choice(id)).onOver(200);
                }
              });
      adders.add(adder);
      adder.start();
    }
    boolean running = true;
    while (running) {
      running = adders.stream().anyMatch(Thread::isAlive);
      List<RecordedDecision> seen = log.newest(any -> true, RecordedDecisions.KEPT);
      assertThat(seen)
          .hasSizeLessThanOrEqualTo(RecordedDecisions.KEPT)
          .doesNotHaveDuplicates()
          .isSortedAccordingTo(Comparator.comparingLong(RecordedDecision::number).reversed());
    }
    for (Thread adder : adders) {
      adder.join();
    }
    List<RecordedDecision> last = log.newest(any -> true, RecordedDecisions.KEPT);
    assertThat(last).hasSize(RecordedDecisions.KEPT);
    assertThat(last.get(0).number()).isEqualTo(ADDERS * EACH - 1L);
    assertThat(log.newest(each -> each.choice().requestId().equals("none"), 5)).isEmpty();
  }
}
