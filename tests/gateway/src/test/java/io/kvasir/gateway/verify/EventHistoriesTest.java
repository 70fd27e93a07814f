package io.kvasir.gateway.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.EventStreams;
import io.kvasir.fleet.index.FirstNumber;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.RecoverySource;
import io.kvasir.fleet.index.StreamLimits;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Of which ranks all blocks are known. */
class EventHistoriesTest {

  private static final RankId RANK = new RankId(1, 0);
  private static final RankId OTHER = new RankId(1, 1);

  private final NativePrefixIndex index = new NativePrefixIndex(HashFormat.KVASIR, 4, 1 << 20);
  private final EventHistories histories = new EventHistories(index);
  private final Deque<RecoverySource.Answer> asked = new ArrayDeque<>();
  private final EventStreams streams =
      new EventStreams(
          histories,
          (rank, first, last, answer) -> asked.add(answer),
          StreamLimits.DEFAULT,
          FirstNumber.ZERO);

  @AfterEach
  void close() {
    index.close();
  }

  private void store(long number, long handle, long parent) {
    long[] handles = {handle};
    long[] locals = {7 * handle};
    streams.onEvent(
        RANK,
        number,
        parent == 0
            ? BlockEvent.Stored.root(handles, locals)
            : BlockEvent.Stored.after(parent, handles, locals));
  }

  private void assertComplete(boolean complete) {
    assertThat(histories.isComplete(RANK)).isEqualTo(complete);
    assertThat(histories.isComplete(OTHER)).isTrue();
  }

  @Test
  void aStreamFromTheFirstBatchOnIsComplete() {
    store(0, 1, 0);
    store(1, 2, 1);
    streams.onEvent(RANK, 2, new BlockEvent.Cleared());
    store(3, 1, 0);
    assertComplete(true);
  }

  @Test
  void aGapThatIsFilledLosesNothing() {
    store(0, 1, 0);
    store(2, 3, 2);
    store(1, 2, 1);
    asked.remove().delivered();
    assertThat(index.handles(RANK)).isEqualTo(3);
    assertComplete(true);
  }

  @Test
  void batchesThatAreGoneHideBlocksUntilTheEngineStartsOver() {
    store(5, 1, 0);
    asked.remove().gone();
    assertComplete(false);
    store(6, 2, 1);
    assertComplete(false);
    streams.removeRank(RANK);
    assertComplete(true);
    store(0, 1, 0);
    assertComplete(true);
    store(2, 3, 0);
    asked.remove().gone();
    assertComplete(false);
  }

  @Test
  void anUnknownParentIsABlockThatIsNotKnown() {
    store(0, 1, 0);
    store(1, 3, 2);
    assertComplete(false);
  }
}
