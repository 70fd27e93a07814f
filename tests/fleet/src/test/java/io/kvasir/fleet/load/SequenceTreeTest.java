package io.kvasir.fleet.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SequenceTreeTest {

  private static final long[] LONG = LongStream.range(0, 10_000).toArray();

  private final SequenceTree tree = new SequenceTree();

  SequenceTreeTest() {
    tree.allowRanks(2);
  }

  @Test
  void requestsThatPartWaysSplitARunAndTheLastOfThemMakesItWholeAgain() {
    SequenceRun first = tree.begin(LONG, 5, 0);
    assertThat(tree.runs()).isEqualTo(1);
    SequenceRun second = tree.begin(new long[] {0, 1, 2, 77}, 4, 1);
    assertThat(tree.runs()).isEqualTo(3);
    assertThat(tree.blocks()).isEqualTo(6);
    assertThat(tree.blocks(1)).isEqualTo(4);
    tree.end(second, 1);
    assertThat(tree.runs()).isEqualTo(1);
    assertThat(tree.blocks()).isEqualTo(5);
    assertThat(tree.blocks(1)).isZero();
    tree.end(first, 0);
    assertThat(tree.runs()).isZero();
    assertThat(tree.root().hasChildren()).isFalse();
  }

  @Test
  void aShortRunDoesNotHoldTheArrayOfALongRequest() {
    SequenceRun longEnd = tree.begin(LONG, LONG.length, 0);
    SequenceRun shortEnd = tree.begin(LONG, 3, 0);
    tree.end(longEnd, 0);
    assertThat(shortEnd.hashes.length).isLessThanOrEqualTo(6);
    tree.end(shortEnd, 0);
    assertThat(tree.runs()).isZero();
  }

  @Test
  void whatIsAddedBehindASharedEndIsNotSeenByOthers() {
    SequenceRun first = tree.begin(LONG, 4, 0);
    SequenceRun second = tree.begin(LONG, 4, 1);
    first = tree.extend(first, new long[] {50}, 1, 0);
    second = tree.extend(second, new long[] {60}, 1, 1);
    int[] live = new int[2];
    tree.count(new long[] {0, 1, 2, 3, 60}, 5, live);
    assertThat(live).containsExactly(4, 5);
    tree.end(first, 0);
    second = tree.extend(second, new long[] {61, 62}, 2, 1);
    assertThat(tree.runs()).isEqualTo(1);
    live = new int[2];
    tree.count(new long[] {0, 1, 2, 3, 60, 61, 62}, 7, live);
    assertThat(live).containsExactly(0, 7);
    tree.end(second, 1);
    assertThat(tree.runs()).isZero();
  }

  @Test
  void aRequestThatFollowsAnothersTokensSharesThem() {
    SequenceRun ahead = tree.begin(LONG, 100, 0);
    SequenceRun behind = tree.begin(LONG, 2, 1);
    for (int at = 2; at < 100; at++) {
      behind = tree.extend(behind, new long[] {LONG[at]}, 1, 1);
      assertThat(tree.runs()).isEqualTo(at == 99 ? 1 : 2);
    }
    assertThat(behind).isSameAs(ahead);
    assertThat(tree.blocks()).isEqualTo(100);
    assertThat(tree.blocks(1)).isEqualTo(100);
    tree.end(ahead, 0);
    tree.end(behind, 1);
    assertThat(tree.runs()).isZero();
  }
}
