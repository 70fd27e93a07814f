package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Behaviour of streams when numbers repeat, jump and start over. */
class EventStreamsTest {

  private static final RankId A = new RankId(7, 0);
  private static final RankId B = new RankId(7, 1);

  /** An unanswered question to the source. */
  private record Asked(RankId rank, long first, long last, RecoverySource.Answer answer) {}

  private final List<Asked> asked = new ArrayList<>();
  private final NaiveIndex index = new NaiveIndex(HashFormat.KVASIR);
  private EventStreams streams = streams(StreamLimits.DEFAULT);

  private EventStreams streams(StreamLimits limits) {
    return new EventStreams(
        index,
        (rank, first, last, answer) -> asked.add(new Asked(rank, first, last, answer)),
        limits,
        FirstNumber.RECEIVED);
  }

  /** Event {@code n} stores block n after block n - 1; handles are the blocks' numbers. */
  private static BlockEvent event(long n) {
    long[] block = {n};
    return n == 1
        ? BlockEvent.Stored.root(block, block)
        : BlockEvent.Stored.after(n - 1, block, block);
  }

  private void tell(RankId rank, long... ids) {
    for (long id : ids) {
      streams.onEvent(rank, id, event(id));
    }
  }

  private Map<RankId, Integer> match() {
    return IndexScenario.match(
        index, NaiveIndex.chain(HashFormat.KVASIR, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  }

  private static BlockEvent root(long handle, long local) {
    return BlockEvent.Stored.root(new long[] {handle}, new long[] {local});
  }

  @Test
  void anyNumberMayBeTheBase() {
    streams.onEvent(A, -5, event(1));
    streams.onEvent(A, -4, event(2));
    tell(B, 1, 2, 3);

    assertThat(match()).isEqualTo(Map.of(A, 2, B, 3));
    assertThat(streams.stats().events()).isEqualTo(5);
    assertThat(asked).isEmpty();
  }

  @Test
  void aNumberThatRepeatsIsIgnoredWhateverItSays() {
    tell(A, 1, 2, 3, 2, 3);
    streams.onEvent(A, 3, BlockEvent.Removed.of(new long[] {1}));
    tell(A, 4);

    assertThat(match()).isEqualTo(Map.of(A, 4));
    assertThat(streams.stats().duplicates()).isEqualTo(3);
    assertThat(streams.stats().restarts()).isZero();
  }

  @Test
  void aGapHidesTheRankUntilTheMissingEventsCome() {
    tell(A, 1, 2, 5, 6);
    tell(B, 1);

    assertThat(match()).isEqualTo(Map.of(B, 1));
    assertThat(asked).hasSize(1);
    assertThat(asked.get(0).first()).isEqualTo(3);
    assertThat(asked.get(0).last()).isEqualTo(4);
    assertThat(streams.stats().gaps()).isEqualTo(1);
    assertThat(streams.stats().hiddenRanks()).isEqualTo(1);
    assertThat(streams.stats().pendingBlocks()).isEqualTo(4);

    asked.get(0).answer().events(3, List.of(event(3), event(4)));
    assertThat(match()).isEqualTo(Map.of(A, 6, B, 1));
    assertThat(streams.stats().recoveries()).isEqualTo(1);
    assertThat(streams.stats().hiddenRanks()).isZero();
    assertThat(streams.stats().pendingBlocks()).isZero();
  }

  @Test
  void missingEventsMayComeLate() {
    tell(A, 1, 4, 2);
    assertThat(match()).isEmpty();
    tell(A, 3);
    assertThat(match()).isEqualTo(Map.of(A, 4));

    asked.get(0).answer().events(2, List.of(event(2), event(3)));
    asked.get(0).answer().gone();
    assertThat(match()).isEqualTo(Map.of(A, 4));
  }

  @Test
  void clearedEndsAGap() {
    tell(A, 1, 2, 5);
    streams.onEvent(A, 8, new BlockEvent.Cleared());
    assertThat(match()).isEmpty();
    streams.onEvent(A, 9, event(1));

    assertThat(match()).isEqualTo(Map.of(A, 1));
    assertThat(streams.stats().pendingBlocks()).isZero();
    asked.get(0).answer().events(3, List.of(event(3), event(4)));
    assertThat(match()).isEqualTo(Map.of(A, 1));
  }

  @Test
  void wholeContentsEndAGap() {
    tell(A, 1, 2, 5, 7);
    assertThat(streams.onSnapshot(A, 1, List.of())).isFalse();
    assertThat(match()).isEmpty();

    assertThat(
            streams.onSnapshot(
                A,
                6,
                List.of(
                    BlockEvent.Stored.root(
                        new long[] {1, 2, 3, 4, 5, 6}, new long[] {1, 2, 3, 4, 5, 6}))))
        .isTrue();
    assertThat(match()).isEqualTo(Map.of(A, 7));
    tell(A, 6, 8);
    assertThat(match()).isEqualTo(Map.of(A, 8));
    assertThat(streams.stats().restarts()).isZero();
  }

  @Test
  void aSnapshotMayComeFirst() {
    streams.onSnapshot(A, 40, List.of((BlockEvent.Stored) event(1)));
    assertThat(match()).isEqualTo(Map.of(A, 1));
    streams.onEvent(A, 41, event(2));
    assertThat(match()).isEqualTo(Map.of(A, 2));
  }

  @Test
  void whatIsGoneIsForgotten() {
    tell(A, 1, 2);
    streams.onEvent(A, 5, root(9, 1));
    asked.get(0).answer().gone();

    assertThat(match()).isEqualTo(Map.of(A, 1));
    assertThat(index.stats().memberships()).isEqualTo(1);
    assertThat(streams.stats().recoveries()).isEqualTo(1);
  }

  @Test
  void anAnswerThatBeginsLaterStartsClean() {
    tell(A, 1, 2);
    streams.onEvent(A, 9, event(2));
    asked.get(0).answer().events(7, List.of(root(8, 3), event(1)));

    assertThat(match()).isEqualTo(Map.of(A, 2));
    assertThat(index.stats().memberships()).isEqualTo(3);
  }

  @Test
  void asksForWhatAnAnswerLeftOut() {
    tell(A, 1, 6);
    asked.get(0).answer().events(2, List.of(event(2), event(3)));
    assertThat(match()).isEmpty();
    assertThat(asked).hasSize(2);
    assertThat(asked.get(1).first()).isEqualTo(4);
    assertThat(asked.get(1).last()).isEqualTo(5);
    asked.get(1).answer().events(4, List.of(event(4), event(5), event(6), event(7)));

    assertThat(match()).isEqualTo(Map.of(A, 7));
  }

  @Test
  void asksLessAndLessOftenAfterFailures() {
    tell(A, 1, 3);
    asked.get(0).answer().failed();
    for (long id = 4; id < 40; id++) {
      tell(A, id);
      // Only the first of these failures answers a question.
      asked.get(asked.size() - 1).answer().failed();
      asked.get(asked.size() - 1).answer().failed();
    }
    assertThat(asked).hasSizeBetween(5, 8);
    streams.retryGaps();
    asked.get(asked.size() - 1).answer().events(2, List.of(event(2)));
    assertThat(match()).isEqualTo(Map.of(A, 9));
  }

  @Test
  void aSourceMayAnswerAtOnceAndInManyParts() {
    int[] questions = {0};
    streams =
        new EventStreams(
            index,
            (rank, first, last, answer) -> {
              questions[0]++;
              answer.events(first, List.of(event(first)));
            },
            StreamLimits.DEFAULT,
            FirstNumber.RECEIVED);
    tell(A, 1, 20_000);

    assertThat(match()).isEqualTo(Map.of(A, 9));
    assertThat(questions[0]).isEqualTo(19_998);
  }

  @Test
  void tooMuchThatWaitsIsAGapOfItsOwn() {
    streams = streams(new StreamLimits(4, 6));
    tell(A, 1, 3, 4, 5, 6);
    assertThat(streams.stats().overflows()).isEqualTo(2);
    tell(B, 1, 3, 4);
    assertThat(streams.stats().overflows()).isEqualTo(3);
    assertThat(streams.stats().pendingBlocks()).isEqualTo(6);

    asked.get(0).answer().events(2, List.of(event(2)));
    assertThat(match()).isEmpty();
    assertThat(asked.get(2).first()).isEqualTo(5);
    assertThat(asked.get(2).last()).isEqualTo(6);
    asked.get(2).answer().events(5, List.of(event(5), event(6)));
    assertThat(match()).isEqualTo(Map.of(A, 6));
  }

  @Test
  void anEngineThatCountsFromZeroAgainHasRestarted() {
    tell(A, 1, 2, 3);
    streams.onEvent(A, 0, root(5, 1));

    assertThat(match()).isEqualTo(Map.of(A, 1));
    assertThat(index.stats().memberships()).isEqualTo(1);
    assertThat(streams.stats().restarts()).isEqualTo(1);
    streams.onEvent(A, 0, root(5, 1));
    assertThat(streams.stats().restarts()).isEqualTo(1);
  }

  @Test
  void anEngineThatSaysSomethingElseUnderItsFirstNumberHasRestarted() {
    tell(A, 1, 2, 3, 1);
    assertThat(match()).isEqualTo(Map.of(A, 3));
    streams.onEvent(A, 1, root(5, 1));

    assertThat(match()).isEqualTo(Map.of(A, 1));
    assertThat(streams.stats().restarts()).isEqualTo(1);
  }

  @Test
  void sequenceHashesAreCompared() {
    streams.onEvent(A, 0, BlockEvent.Stored.named(null, 5));
    streams.onEvent(A, 0, BlockEvent.Stored.named(null, 5));
    assertThat(streams.stats().duplicates()).isEqualTo(1);
    streams.onEvent(
        A,
        0,
        new BlockEvent.Stored(
            null, true, 0, 0, new long[] {5}, null, new long[] {6}, BlockEvent.Repeats.SAME));
    assertThat(streams.stats().restarts()).isEqualTo(1);
    assertThat(IndexScenario.match(index, 5)).isEmpty();
    assertThat(IndexScenario.match(index, 6)).isEqualTo(Map.of(A, 1));
    streams.onEvent(A, 0, root(5, 6)); // the same numbers as local hashes
    assertThat(streams.stats().restarts()).isEqualTo(2);
  }

  @Test
  void aRestartWhoseFirstEventsAreLostIsSeenByTwoThatContradict() {
    tell(A, 1, 2, 3, 4, 5);
    streams.onEvent(A, 2, root(8, 1));
    assertThat(match()).isEqualTo(Map.of(A, 5));
    streams.onEvent(A, 3, BlockEvent.Stored.after(8, new long[] {9}, new long[] {2}));

    assertThat(match()).isEqualTo(Map.of(A, 2));
    assertThat(streams.stats().restarts()).isEqualTo(1);
    assertThat(streams.stats().unknownParents()).isZero();
  }

  @Test
  void aRestartEndsAGap() {
    tell(A, 1, 2, 9);
    RecoverySource.Answer late = asked.get(0).answer();
    streams.onEvent(A, 0, root(5, 1));

    assertThat(match()).isEqualTo(Map.of(A, 1));
    assertThat(streams.stats().hiddenRanks()).isZero();
    assertThat(streams.stats().pendingBlocks()).isZero();
    late.events(3, List.of(event(3)));
    late.dump(30, List.of());
    assertThat(match()).isEqualTo(Map.of(A, 1));
  }

  @Test
  void aRemovedRankMayComeBackUnderAnyNumber() {
    tell(A, 1, 2, 9);
    streams.removeRank(A);
    streams.removeRank(A);
    assertThat(streams.stats().hiddenRanks()).isZero();
    assertThat(streams.stats().pendingBlocks()).isZero();
    asked.get(0).answer().events(3, List.of(event(3)));
    assertThat(index.stats().ranks()).isZero();

    streams.onEvent(A, 2, event(1));
    assertThat(match()).isEqualTo(Map.of(A, 1));
  }

  @Test
  void errorsSkipTheirEventOnlyAndAreCountedByCause() {
    tell(A, 1);
    streams.onEvent(A, 2, BlockEvent.Stored.after(77, new long[] {5}, new long[] {5}));
    streams.onEvent(A, 3, BlockEvent.Stored.after(1, new long[] {5, 5}, new long[] {5, 6}));
    streams.onEvent(A, 4, BlockEvent.Removed.of(new long[] {66}));
    streams.onEvent(A, 5, event(2));

    assertThat(match()).isEqualTo(Map.of(A, 2));
    StreamStats stats = streams.stats();
    assertThat(stats.unknownParents()).isEqualTo(1);
    assertThat(stats.invalidSequences()).isEqualTo(1);
    assertThat(stats.unknownBlocks()).isEqualTo(1);
    assertThat(stats.gaps()).isZero();
  }

  @Test
  void aBatchTakesEffectAsAWhole() {
    assertThat(streams.onBatch(A, 0, List.of(event(1), event(2)))).isTrue();
    assertThat(streams.onBatch(A, 1, List.of())).isTrue();
    assertThat(streams.onBatch(A, 3, List.of(event(4)))).isFalse();
    assertThat(match()).isEmpty();
    assertThat(streams.onBatch(A, 2, List.of(event(3)))).isTrue();
    assertThat(match()).isEqualTo(Map.of(A, 4));
    assertThat(streams.stats().duplicates()).isZero();
    assertThat(streams.onBatch(A, 1, List.of())).isTrue();
    assertThat(streams.stats().duplicates()).isEqualTo(1);
  }

  @Test
  void aSequenceFromZeroMissesWhatCameBefore() {
    streams = new EventStreams(index, this::ask, StreamLimits.DEFAULT, FirstNumber.ZERO);
    tell(A, 3);
    assertThat(match()).isEmpty();
    assertThat(asked).hasSize(1);
    assertThat(asked.get(0).first()).isZero();
    assertThat(asked.get(0).last()).isEqualTo(2);

    streams.onBatch(A, 0, List.of());
    streams.onBatch(A, 1, List.of(event(1)));
    asked.get(0).answer().delivered();
    assertThat(asked).hasSize(2);
    assertThat(asked.get(1).first()).isEqualTo(2);
    asked.get(1).answer().delivered();
    assertThat(asked).as("nothing new since the question").hasSize(2);
    streams.onBatch(A, 2, List.of(event(2)));
    assertThat(match()).isEqualTo(Map.of(A, 3));
  }

  @Test
  void aSequenceFromZeroIgnoresWhateverRepeats() {
    streams = new EventStreams(index, this::ask, StreamLimits.DEFAULT, FirstNumber.ZERO);
    tell(A, 0);
    for (int i = 1; i < 200; i++) {
      streams.onBatch(A, i, List.of(root(100 + i, 50 + i)));
    }
    long before = index.stats().memberships();
    for (int i = 0; i < 200; i++) {
      streams.onBatch(A, i, List.of(root(900 + i, 70 + i)));
    }
    assertThat(index.stats().memberships()).isEqualTo(before);
    assertThat(streams.stats().restarts()).isZero();

    streams.removeRank(A);
    streams.onBatch(A, 2, List.of(event(3)));
    assertThat(asked).hasSize(1);
    assertThat(asked.get(0).first()).isZero();
    streams.onBatch(A, 0, List.of(event(1), event(2)));
    streams.onBatch(A, 1, List.of());
    assertThat(match()).isEqualTo(Map.of(A, 3));
  }

  private void ask(RankId rank, long first, long last, RecoverySource.Answer answer) {
    asked.add(new Asked(rank, first, last, answer));
  }
}
