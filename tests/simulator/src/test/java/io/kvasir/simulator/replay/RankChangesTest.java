package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheChange;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class RankChangesTest {

  private final Long2LongOpenHashMap localOf = new Long2LongOpenHashMap();
  private final RankChanges changes = new RankChanges(localOf);
  private long next;

  private void stored(long block, long parent, int depth) {
    localOf.put(block, -block);
    changes.on(0, new BlockEvent.Stored(next++, block, parent, depth));
  }

  private List<String> taken() {
    return changes.take().stream().map(RankChangesTest::words).toList();
  }

  private static String words(CacheChange change) {
    if (change instanceof CacheChange.Stored stored) {
      return (stored.root() ? "root " : "after " + stored.parentHandle() + " ")
          + Arrays.toString(stored.handles())
          + Arrays.toString(stored.localHashes());
    }
    return change instanceof CacheChange.Removed removed
        ? "removed " + Arrays.toString(removed.handles())
        : "cleared";
  }

  @Test
  void blocksOfOneChainAreOneChange() {
    stored(1, 0, 0);
    stored(2, 1, 1);
    stored(4, 1, 1);
    stored(5, 4, 2);
    stored(6, 0, 0);
    assertThat(taken())
        .containsExactly("root [1, 2][-1, -2]", "after 1 [4, 5][-4, -5]", "root [6][-6]");
  }

  @Test
  void changesKeepTheirOrder() {
    stored(1, 0, 0);
    changes.on(0, new BlockEvent.Removed(next++, 1));
    stored(1, 0, 0);
    changes.on(0, new BlockEvent.Cleared(next++));
    stored(1, 0, 0);
    assertThat(taken())
        .containsExactly("root [1][-1]", "removed [1]", "root [1][-1]", "cleared", "root [1][-1]");
  }

  @Test
  void aBlockThatNobodyHashedIsADefect() {
    assertThatIllegalStateException()
        .isThrownBy(() -> changes.on(0, new BlockEvent.Stored(0, 9, 0, 0)))
        .withMessage("a block was stored that nobody hashed");
  }
}
