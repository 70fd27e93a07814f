package io.kvasir.event;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class BlockEventTest {

  private static final long[] ONE = {1};
  private static final long[] TWO = {1, 2};

  @Test
  void storedBlocksHaveOneHashEach() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BlockEvent.Stored.root(TWO, ONE))
        .withMessage("2 handles need as many localHashes, not 1");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new BlockEvent.Stored(null, true, 0, 0, ONE, null, TWO, BlockEvent.Repeats.SAME))
        .withMessage("1 handles need as many sequenceHashes, not 2");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new BlockEvent.Stored(null, true, 0, 0, ONE, ONE, ONE, BlockEvent.Repeats.SAME))
        .withMessage("one of localHashes and sequenceHashes must be given, not both");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new BlockEvent.Stored(null, true, 0, 0, ONE, null, null, BlockEvent.Repeats.SAME));
  }
}
