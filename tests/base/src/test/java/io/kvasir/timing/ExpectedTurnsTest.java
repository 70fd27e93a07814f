package io.kvasir.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class ExpectedTurnsTest {

  private static final long SECOND_NS = 1_000_000_000L;

  private final ExpectedTurns turns = new ExpectedTurns(10e9, 16);
  private long nowNs;

  private ExpectedTurns.Open turn(String conversation, ExpectedTurns.Open open) {
    turns.placed(ExpectedTurns.key(conversation), open, 100, nowNs);
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

  @Test
  void aConversationCountsOnTheRankOfItsLastTurnOnly() {
    ExpectedTurns.Open first = turn("moves", new ExpectedTurns.Open());
    assertThat(turns.count(first, null, nowNs)).isPositive();
    assertThat(turns.count(first, turns.last(ExpectedTurns.key("moves")), nowNs)).isZero();
    nowNs += SECOND_NS;
    ExpectedTurns.Open second = turn("moves", new ExpectedTurns.Open());
    assertThat(turns.count(first, null, nowNs)).isCloseTo(0, within(1e-3));
    assertThat(turns.count(second, null, nowNs)).isGreaterThan(0.5);
  }

  @Test
  void aTurnThatLeavesTwiceIsTakenOffOnce() {
    ExpectedTurns.Open rank = turn("one", turn("two", new ExpectedTurns.Open()));
    double both = turns.count(rank, null, nowNs);
    ExpectedTurns.Turn last = turns.last(ExpectedTurns.key("one"));
    turns.leave(last, nowNs);
    turns.leave(last, nowNs);
    assertThat(turns.count(rank, null, nowNs)).isCloseTo(both / 2, within(0.1));
  }

  @Test
  void furtherWorkIsTheMeanOfFurtherTurns() {
    assertThat(turns.furtherMs()).isZero();
    begin();
    assertThat(turns.seenToContinue()).isTrue();
    assertThat(turns.furtherMs() / turns.furtherTurns()).isCloseTo(100, within(1e-6));
  }

  @Test
  void conversationsWithoutAnEndBringALimitedNumberOfTurns() {
    ExpectedTurns.Open open = new ExpectedTurns.Open();
    for (int turn = 0; turn < 5_000_000; turn++) {
      turns.placed(1 + turn % 50, open, 100, nowNs);
      nowNs += SECOND_NS / 50;
      if (turn % 1_000 == 0) {
        assertThat(turns.furtherTurns()).isBetween(1.0, 64.0);
        assertThat(turns.furtherMs()).isBetween(0.0, 6_400.1);
      }
    }
    assertThat(turns.count(open, null, nowNs)).isBetween(30.0, 50.0);
    turn("new", open);
    assertThat(turns.furtherTurns()).isEqualTo(64);
  }
}
