package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ExpectedTurnsTest {

  private static final long SECOND_NS = 1_000_000_000L;
  private static final long[] NO_BLOCKS = {};

  private final ExpectedTurns turns = new ExpectedTurns();
  private long nowNs;

  private ExpectedTurns.Open turn(String conversation, ExpectedTurns.Open open) {
    turns.placed(conversation, false, NO_BLOCKS, open, 100, nowNs);
    return open;
  }

  /** Conversations that pause for 20 seconds each time. */
  private void begin() {
    ExpectedTurns.Open other = new ExpectedTurns.Open();
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 40; i++) {
        turn("usual " + i, other);
        nowNs += SECOND_NS / 2;
      }
    }
  }

  @Test
  void aMeanOfEqualGapsIsLearned() {
    begin();
    ExpectedTurns.Open open = turn("new", new ExpectedTurns.Open());
    double atOnce = turns.count(open, null, nowNs);
    nowNs += 80 * SECOND_NS; // four gaps
    assertThat(turns.count(open, null, nowNs) / atOnce).isBetween(0.33, 0.41);
  }

  /** A classifier: one instruction in two full blocks, and a text that fills none. */
  @Test
  void firstTurnsWithTheSameBlocksAreConversationsOfTheirOwn() {
    long[] instruction = {11, 12};
    ExpectedTurns.Open open = new ExpectedTurns.Open();
    for (int i = 0; i < 20; i++) {
      turns.placed(null, true, instruction, open, 100, nowNs);
    }
    assertThat(turns.furtherMs()).as("no further turn was placed").isZero();
    long begun = turns.key(null, false, instruction);
    assertThat(turns.key(null, true, instruction)).isNotEqualTo(begun);
    turns.placed(null, false, new long[] {11, 12, 13}, open, 100, nowNs);
    assertThat(turns.key(null, false, new long[] {11, 12, 13}))
        .as("an answered prompt continues the last that it goes on from")
        .isEqualTo(begun);
  }

  /** One client's parallel calls of tools. */
  @Test
  void quickTurnsOfOneClientDoNotGiveUpTheConversationsOfOthers() {
    begin();
    ExpectedTurns.Open open = turn("patient", new ExpectedTurns.Open());
    double before = turns.count(open, null, nowNs);
    ExpectedTurns.Open quick = new ExpectedTurns.Open();
    for (int i = 0; i < 300; i++) {
      turn("quick", quick);
      nowNs += SECOND_NS / 50;
    }
    nowNs += 14 * SECOND_NS;
    assertThat(turns.count(open, null, nowNs)).isGreaterThan(before / 2);
  }
}
