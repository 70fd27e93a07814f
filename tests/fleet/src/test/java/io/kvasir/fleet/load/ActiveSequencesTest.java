package io.kvasir.fleet.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.model.RankId;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ActiveSequencesTest {

  private static final ActiveSequencesOptions OUTPUT =
      ActiveSequencesOptions.DEFAULT.withOutputBlocks(true);
  private static final RankId A = new RankId(-1, 0);
  private static final RankId B = new RankId(1, 3);

  /** Placeholders for the hashes of tokens 0..3 and 0..7. */
  private static final long[] HASHES = {111, 222};

  private final AtomicLong clockNs = new AtomicLong(1_000);
  private final PredictedLoads loads = new PredictedLoads();

  private ActiveSequences sequences(ActiveSequencesOptions options) {
    ActiveSequences sequences = new ActiveSequences(4, options, clockNs::get);
    sequences.addRank(A);
    sequences.addRank(B);
    return sequences;
  }

  private long activeBlocks(ActiveSequences sequences, RankId rank) {
    sequences.loads(loads);
    return loads.activeBlocks(loads.indexOf(rank));
  }

  private static void isEmpty(ActiveSequences sequences) {
    PredictedLoads loads = new PredictedLoads();
    sequences.loads(loads);
    for (int i = 0; i < loads.size(); i++) {
      assertThat(loads.activeBlocks(i)).isZero();
      assertThat(loads.activePrefillTokens(i)).isZero();
      assertThat(loads.activeRequests(i)).isZero();
      assertThat(loads.weightedBlocks(i)).isZero();
    }
    assertThat(sequences.stats().requests()).isZero();
    assertThat(sequences.stats().liveBlocks()).isZero();
    assertThat(sequences.stats().runs()).isZero();
  }

  /** The worked example of Dynamo's tests. */
  @Test
  void blocksOfTwoRequestsCountOnceAndEndWithTheLastOfThem() {
    ActiveSequences sequences = sequences(OUTPUT);
    long r0 = sequences.add(0, A, new SequenceLoad(HASHES, 0, 3, 3));
    sequences.push(r0, 1);
    sequences.push(r0, 1, HASHES, 1);
    assertThat(activeBlocks(sequences, A)).isEqualTo(2);
    long r1 = sequences.add(1, A, new SequenceLoad(HASHES, 1, 7, 7));
    assertThat(activeBlocks(sequences, A)).isEqualTo(3);
    assertThat(sequences.stats().liveBlocks()).isEqualTo(1);
    sequences.potential(HASHES, 1, 6, loads);
    assertThat(loads.newBlocks(loads.indexOf(A))).isEqualTo(1);
    assertThat(loads.newBlocks(loads.indexOf(B))).isEqualTo(2);
    assertThat(loads.potentialBlocks(loads.indexOf(A))).isEqualTo(4);
    sequences.free(r1);
    assertThat(activeBlocks(sequences, A)).isEqualTo(2);
    sequences.free(r0);
    isEmpty(sequences);
  }

  @Test
  void ranksAreToldInTheirOrder() {
    ActiveSequences sequences = sequences(OUTPUT);
    sequences.addRank(new RankId(1, 0));
    assertThat(sequences.addRank(B)).isFalse();
    sequences.loads(loads);
    assertThat(loads.size()).isEqualTo(3);
    assertThat(loads.rank(0)).isEqualTo(new RankId(1, 0));
    assertThat(loads.rank(1)).isEqualTo(B);
    assertThat(loads.rank(2)).isEqualTo(A);
    assertThat(loads.indexOf(new RankId(5, 5))).isNegative();
  }

  @Test
  void aFullLastBlockBecomesSharedOnlyWhenATokenFollowsIt() {
    ActiveSequences sequences = sequences(OUTPUT);
    long full = sequences.add(7, A, new SequenceLoad(HASHES, 1, 4, 0));
    assertThat(activeBlocks(sequences, A)).isEqualTo(1);
    sequences.push(full, 1);
    assertThat(activeBlocks(sequences, A)).isEqualTo(2);
    sequences.push(full, 3);
    assertThat(activeBlocks(sequences, A)).isEqualTo(2);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sequences.push(full, 0, HASHES, 0))
        .withMessageContaining("tokens must be at least 1");
    long filling = sequences.add(8, A, new SequenceLoad(HASHES, 1, 7, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sequences.push(filling, 1, HASHES, 1))
        .withMessageContaining("blocks must be within 0 to 0, not 1");
    sequences.push(filling, 2, new long[] {222}, 1);
    assertThat(sequences.stats().liveBlocks()).isEqualTo(2);
    sequences.push(full, 1, new long[] {222}, 1);
    assertThat(sequences.stats().liveBlocks()).isEqualTo(2);
    assertThat(activeBlocks(sequences, A)).isEqualTo(4);
    sequences.free(filling);
    assertThat(activeBlocks(sequences, A)).isEqualTo(3);
    sequences.free(full);
    isEmpty(sequences);
  }

  @Test
  void theFirstTokenEndsThePrefill() {
    ActiveSequences sequences = sequences(ActiveSequencesOptions.DEFAULT);
    long first = sequences.add(1, A, new SequenceLoad(HASHES, 2, 10, 6));
    long second = sequences.add(2, A, new SequenceLoad(HASHES, 2, 10, 2));
    sequences.loads(loads);
    assertThat(loads.activePrefillTokens(loads.indexOf(A))).isEqualTo(8);
    sequences.push(first, 1);
    sequences.loads(loads);
    assertThat(loads.activePrefillTokens(loads.indexOf(A))).isEqualTo(2);
    assertThat(sequences.prefillDone(second)).isTrue();
    assertThat(sequences.prefillDone(second)).isTrue();
    sequences.free(first);
    sequences.free(second);
    assertThat(sequences.prefillDone(second)).isFalse();
    isEmpty(sequences);
  }

  @Test
  void anEndDuringThePrefillTakesItsTokensAway() {
    ActiveSequences sequences = sequences(ActiveSequencesOptions.DEFAULT);
    sequences.free(sequences.add(1, A, new SequenceLoad(HASHES, 2, 10, 6)));
    isEmpty(sequences);
  }

  @Test
  void aLateEndOfAnAttemptDoesNotTouchTheRetry() {
    ActiveSequences sequences = sequences(OUTPUT);
    long failed = sequences.add(Long.MIN_VALUE, A, new SequenceLoad(HASHES, 2, 8, 8));
    assertThat(sequences.free(failed)).isTrue();
    long retry = sequences.add(Long.MIN_VALUE, B, new SequenceLoad(HASHES, 2, 8, 8));
    assertThat(retry).isNotEqualTo(failed);
    assertThat(sequences.free(failed)).isFalse();
    assertThat(sequences.push(failed, 9)).isFalse();
    assertThat(sequences.attemptOf(Long.MIN_VALUE)).isEqualTo(retry);
    assertThat(activeBlocks(sequences, B)).isEqualTo(2);
    assertThat(sequences.stats().unknownFrees()).isEqualTo(1);
    sequences.free(retry);
    assertThat(sequences.attemptOf(Long.MIN_VALUE)).isEqualTo(ActiveSequences.NONE);
    isEmpty(sequences);
  }

  @Test
  void aRequestThatIsBookedIsRefusedAndNothingChanges() {
    ActiveSequences sequences = sequences(OUTPUT);
    long attempt = sequences.add(5, A, new SequenceLoad(HASHES, 2, 8, 8));
    ActiveSequencesStats before = sequences.stats();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sequences.add(5, B, new SequenceLoad(new long[] {1, 2, 3}, 3, 12, 12)))
        .withMessage("request 5 is booked already");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sequences.add(6, new RankId(9, 9), new SequenceLoad(HASHES, 2, 8, 8)))
        .withMessage("rank 9/9 is unknown");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sequences.add(6, A, new SequenceLoad(HASHES, 2, 7, 7)))
        .withMessage("blocks must be within 0 to 1, not 2");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> sequences.add(6, A, new SequenceLoad(HASHES, 1, 7, 8)))
        .withMessage("prefillTokens must be within 0 to 7, not 8");
    assertThat(sequences.stats()).isEqualTo(before);
    assertThat(activeBlocks(sequences, B)).isZero();
    assertThat(sequences.attemptOf(5)).isEqualTo(attempt);
  }

  @Test
  void withoutReuseEveryRequestCountsInFull() {
    ActiveSequences sequences = sequences(OUTPUT.withKvReuse(false));
    long first = sequences.add(1, A, new SequenceLoad(HASHES, 2, 9, 9));
    long second = sequences.add(2, A, new SequenceLoad(HASHES, 2, 9, 9));
    assertThat(activeBlocks(sequences, A)).isEqualTo(6);
    sequences.potential(HASHES, 2, 9, loads);
    assertThat(loads.newBlocks(0)).isEqualTo(3);
    sequences.push(first, 4, HASHES, 1);
    assertThat(activeBlocks(sequences, A)).isEqualTo(7);
    sequences.free(first);
    sequences.free(second);
    isEmpty(sequences);
  }

  @Test
  void withoutOutputTrackingTokensTakeNoBlocks() {
    ActiveSequences sequences = sequences(ActiveSequencesOptions.DEFAULT.withPrefillTokens(false));
    long attempt = sequences.add(1, A, new SequenceLoad(HASHES, 2, 9, 9));
    sequences.loads(loads);
    assertThat(loads.activePrefillTokens(loads.indexOf(A))).isZero();
    sequences.push(attempt, 100);
    assertThat(activeBlocks(sequences, A)).isEqualTo(3);
    sequences.free(attempt);
    isEmpty(sequences);
  }

  @Test
  void blocksOfOneRequestCountLessTheNearerItsExpectedEnd() {
    ActiveSequences sequences = sequences(OUTPUT);
    long shared = sequences.add(1, A, new SequenceLoad(HASHES, 1, 4, 0));
    long timed = sequences.add(2, A, new SequenceLoad(HASHES, 2, 8, 0, 20));
    sequences.push(timed, 4);
    sequences.loads(loads);
    int a = loads.indexOf(A);
    assertThat(loads.activeBlocks(a)).isEqualTo(3);
    assertThat(loads.weightedBlocks(a)).isEqualTo(1 + 2 * 0.8);
    sequences.push(timed, 3);
    sequences.push(timed, 3, new long[] {333, 444}, 2);
    sequences.loads(loads);
    assertThat(loads.weightedBlocks(a)).isEqualTo(1 + 4 * 0.5);
    sequences.push(timed, 100);
    sequences.loads(loads);
    assertThat(loads.weightedBlocks(a)).isEqualTo(1);
    sequences.free(timed);
    sequences.loads(loads);
    assertThat(loads.weightedBlocks(a)).isEqualTo(1);
    sequences.free(shared);
    isEmpty(sequences);
  }

  @Test
  void hashesAreCopied() {
    ActiveSequences sequences = sequences(OUTPUT);
    long[] reused = HASHES.clone();
    long first = sequences.add(1, A, new SequenceLoad(reused, 2, 8, 0));
    reused[1] = 999;
    long second = sequences.add(2, A, new SequenceLoad(reused, 2, 8, 0));
    assertThat(activeBlocks(sequences, A)).isEqualTo(3);
    sequences.free(first);
    assertThat(activeBlocks(sequences, A)).isEqualTo(2);
    sequences.free(second);
    isEmpty(sequences);
  }

  @Test
  void whatOtherRoutersPlaceHasNoRequestIdHere() {
    ActiveSequences sequences = sequences(OUTPUT);
    long own = sequences.add(0, A, new SequenceLoad(HASHES, 2, 8, 0));
    long foreign = sequences.addForeign(A, new SequenceLoad(HASHES, 2, 8, 8));
    assertThat(activeBlocks(sequences, A)).isEqualTo(2);
    assertThat(sequences.free(foreign)).isTrue();
    assertThat(sequences.inFlight(foreign)).isFalse();
    assertThat(sequences.inFlight(own)).isTrue();
    assertThat(sequences.attemptOf(0)).isEqualTo(own);
    sequences.free(own);
    isEmpty(sequences);
  }

  @Test
  void aRankThatGoesTakesItsRequestsAlong() {
    ActiveSequences sequences = sequences(OUTPUT);
    long lost = sequences.add(1, A, new SequenceLoad(HASHES, 2, 9, 9));
    sequences.add(2, A, new SequenceLoad(HASHES, 2, 9, 9));
    long kept = sequences.add(3, B, new SequenceLoad(HASHES, 2, 9, 9));
    assertThat(sequences.removeRank(A)).isEqualTo(2);
    assertThat(sequences.removeRank(A)).isZero();
    assertThat(sequences.free(lost)).isFalse();
    sequences.loads(loads);
    assertThat(loads.size()).isEqualTo(1);
    assertThat(activeBlocks(sequences, B)).isEqualTo(3);
    sequences.addRank(A);
    assertThat(activeBlocks(sequences, A)).isZero();
    long retry = sequences.add(1, A, new SequenceLoad(HASHES, 2, 9, 9));
    sequences.free(kept);
    sequences.free(retry);
    isEmpty(sequences);
  }

  @Test
  void requestsWithoutASignOfLifeAreGivenUp() {
    ActiveSequences sequences = sequences(OUTPUT.withStaleAfterNs(1_000));
    long silent = sequences.add(1, A, new SequenceLoad(HASHES, 2, 9, 9));
    long alive = sequences.add(2, A, new SequenceLoad(HASHES, 2, 9, 9));
    clockNs.addAndGet(999);
    sequences.push(alive, 1);
    assertThat(sequences.expireStale()).isZero();
    clockNs.addAndGet(1);
    assertThat(sequences.expireStale()).isEqualTo(1);
    assertThat(sequences.free(silent)).isFalse();
    assertThat(sequences.attemptOf(2)).isEqualTo(alive);
    clockNs.addAndGet(998);
    assertThat(sequences.expireStale()).isZero();
    clockNs.addAndGet(1);
    assertThat(sequences.expireStale()).isEqualTo(1);
    assertThat(sequences.stats().staleRequests()).isEqualTo(2);
    isEmpty(sequences);
  }

  @Test
  void aBookingLooksForStaleRequestsByItself() {
    ActiveSequences sequences = sequences(OUTPUT);
    sequences.add(1, A, new SequenceLoad(HASHES, 2, 9, 9));
    clockNs.addAndGet(OUTPUT.staleAfterNs());
    sequences.potential(HASHES, 2, 8, loads);
    assertThat(loads.newBlocks(loads.indexOf(A))).isEqualTo(2);
    isEmpty(sequences);
  }

  @Test
  void aBlockHasAtLeastOneToken() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ActiveSequences(0, OUTPUT, () -> 0))
        .withMessage("tokensPerBlock must be at least 1, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> OUTPUT.withStaleAfterNs(0))
        .withMessageContaining("staleAfterNs must be at least 1");
  }
}
