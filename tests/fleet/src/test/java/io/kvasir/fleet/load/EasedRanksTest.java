package io.kvasir.fleet.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which ranks a queue looks at: those whose load may have fallen, and no others. */
class EasedRanksTest {

  private static final int RANKS = 1_000;

  private final ActiveSequences sequences =
      new ActiveSequences(4, ActiveSequencesOptions.DEFAULT.withOutputBlocks(true), () -> 0);
  private final List<Long> attempts = new ArrayList<>();

  EasedRanksTest() {
    for (int i = 0; i < RANKS; i++) {
      sequences.addRank(rank(i));
      attempts.add(sequences.add(i, rank(i), new SequenceLoad(new long[] {i, -i}, 2, 9, 9)));
    }
    assertThat(looks()).isEmpty();
  }

  private static RankId rank(int worker) {
    return new RankId(worker, 0);
  }

  /** The ranks that are looked at; none of them has room. */
  private List<RankId> looks() {
    List<RankId> looked = new ArrayList<>();
    List<RankId> unused = sequences.retainEased((rank, tokens, blocks) -> !looked.add(rank));
    return looked;
  }

  /** Each streamed token read the loads of all ranks while requests waited. */
  @Test
  void aStreamedTokenEasesNoRank() {
    assertThat(sequences.push(attempts.get(7), 1)).isTrue();
    assertThat(looks()).as("its prompt has been computed").containsExactly(rank(7));
    for (int token = 0; token < 100; token++) {
      assertThat(sequences.push(attempts.get(7), 1)).isTrue();
      assertThat(looks()).isEmpty();
    }
    assertThat(sequences.free(attempts.get(7))).isTrue();
    assertThat(looks()).containsExactly(rank(7));
  }

  @Test
  void eachCauseEasesItsRankOnly() {
    assertThat(sequences.prefillDone(attempts.get(3))).isTrue();
    assertThat(sequences.prefillDone(attempts.get(4))).isTrue();
    sequences.ease(rank(3));
    sequences.ease(new RankId(-1, 0));
    assertThat(looks()).containsExactlyInAnyOrder(rank(3), rank(4));
    assertThat(sequences.prefillDone(attempts.get(3))).as("again").isTrue();
    assertThat(looks()).isEmpty();
    sequences.removeRank(rank(5));
    assertThat(looks()).isEmpty();
  }

  @Test
  void aBlockThatBecomesSharedEasesItsRank() {
    long twin = sequences.add(RANKS, rank(0), new SequenceLoad(new long[] {0, 0, 77}, 3, 13, 0));
    assertThat(sequences.push(attempts.get(0), 8)).isTrue();
    assertThat(looks()).containsExactly(rank(0));
    assertThat(sequences.push(attempts.get(0), 1, new long[] {77}, 1)).isTrue();
    assertThat(looks()).containsExactly(rank(0));
    assertThat(sequences.free(twin)).isTrue();
  }

  @Test
  void ranksThatSatisfyTheConditionStay() {
    assertThat(sequences.prefillDone(attempts.get(3))).isTrue();
    RankCondition fewTokens = (rank, tokens, blocks) -> tokens == 0 && blocks == 3;
    assertThat(sequences.retainEased(fewTokens)).containsExactly(rank(3));
    assertThat(sequences.retainEased(fewTokens)).containsExactly(rank(3));
    long added = sequences.add(RANKS, rank(3), new SequenceLoad(new long[0], 0, 5, 5));
    assertThat(sequences.retainEased(fewTokens)).isEmpty();
    assertThat(sequences.free(added)).isTrue();
    assertThat(sequences.retainEased(fewTokens)).containsExactly(rank(3));
  }
}
