package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The numbers of a rank's batches, without sockets. */
class LiveStreamTest {

  private static final byte[] A = {1, 2, 3};
  private static final byte[] B = {1, 2, 4};

  private final List<Long> taken = new ArrayList<>();
  private final LiveStream stream = new LiveStream(new Sink(), true);

  private final class Sink implements BatchSink {
    @Override
    public boolean onBatch(long number, byte[] payload, boolean last) {
      taken.add(number);
      return payload.length > 0;
    }

    @Override
    public void onRestart() {}

    @Override
    public void recoverFrom(Feed feed) {}

    @Override
    public void retry() {}
  }

  private boolean live(long number, byte[] payload) {
    return stream.onLive(number, payload, false);
  }

  @Test
  void consecutiveNumbersProveThatNothingIsMissing() {
    assertThat(live(0, A)).isTrue();
    assertThat(live(1, A)).isTrue();
    assertThat(live(3, A)).isFalse();
    assertThat(stream.last()).isEqualTo(3);
    assertThat(taken).containsExactly(0L, 1L, 3L);
  }

  @Test
  void aNumberThatIsNotAboveTheLastLiveOneIsARestart() {
    live(4, A);

    assertThat(stream.startsOver(5)).isFalse();
    assertThat(stream.startsOver(4)).isTrue();
    stream.startOver();
    assertThat(stream.startsOver(0)).isFalse();
    assertThat(stream.last()).isEqualTo(LiveStream.NONE);
    assertThat(stream.restarts()).isEqualTo(1);
  }

  @Test
  void theBatchBeforeAGapIsInDoubtUntilAReplayRepeatsIt() {
    live(0, A);

    assertThat(stream.doubts(1, false)).isFalse();
    assertThat(stream.doubts(2, false)).isTrue();
    assertThat(stream.doubts(3, false)).as("the first doubt counts").isFalse();
    assertThat(stream.unconfirmed()).isZero();
    assertThat(stream.differs(0, A)).isFalse();
    assertThat(stream.differs(0, B)).as("another process").isTrue();
    assertThat(stream.confirms(1)).isFalse();
    assertThat(stream.confirms(0)).isTrue();
    assertThat(stream.unconfirmed()).isEqualTo(LiveStream.NONE);
  }

  @Test
  void aLostConnectionLeavesTheNextNumberInDoubt() {
    live(0, A);

    assertThat(stream.doubts(1, true)).isTrue();
    assertThat(stream.onLive(1, A, true)).isFalse();
  }

  @Test
  void withoutAReplayThereIsNoDoubt() {
    LiveStream alone = new LiveStream(new Sink(), false);
    alone.onLive(0, A, false);

    assertThat(alone.doubts(2, true)).isFalse();
  }

  @Test
  void liveCopiesOfReplayedBatchesAreNotTaken() {
    stream.onReplayed(7, A);
    stream.cover(7);

    assertThat(live(7, A)).isFalse();
    assertThat(taken).containsExactly(7L);
    assertThat(stream.batches()).isEqualTo(1);
    assertThat(stream.replayedBatches()).isEqualTo(1);
  }

  @Test
  void aBatchThatCannotBeReadIsCountedAndMissing() {
    live(0, A);
    live(1, new byte[0]);

    assertThat(stream.unreadable()).isEqualTo(1);
    assertThat(stream.last()).isZero();
  }
}
