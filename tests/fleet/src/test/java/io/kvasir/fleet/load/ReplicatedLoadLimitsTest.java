package io.kvasir.fleet.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What other routers may have in flight together. */
class ReplicatedLoadLimitsTest {

  private static final int TOKENS_PER_BLOCK = 4;
  private static final RankId RANK = new RankId(0, 0);

  /** Placements of another router, each of some blocks of its own. */
  private static LoadFrame placed(long firstAttempt, int count, int blocks) {
    List<LoadMessage> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long[] hashes = new SplittableRandom(i).longs(blocks).toArray();
      SequenceLoad load = new SequenceLoad(hashes, blocks, blocks * TOKENS_PER_BLOCK, 0, 0);
      messages.add(new LoadMessage(i, firstAttempt + i, RANK, "", new LoadMessage.Added(load)));
    }
    return new LoadFrame(2, messages);
  }

  @ParameterizedTest
  @CsvSource({"10, 1000", "1000, 30"})
  void placementsBeyondTheLimitsAreNotBooked(int mostRequests, long mostBlocks) {
    ActiveSequences sequences =
        new ActiveSequences(TOKENS_PER_BLOCK, ActiveSequencesOptions.DEFAULT, () -> 0);
    sequences.addRank(RANK);
    ReplicatedLoads others =
        new ReplicatedLoads(1, sequences, () -> 0, message -> {}, mostRequests, mostBlocks);
    others.apply(placed(1, 40, 3));
    assertThat(sequences.stats().requests()).isEqualTo(10);
    assertThat(sequences.stats().liveBlocks()).isEqualTo(30);
    assertThat(others.stats().refused()).isEqualTo(30);
    others.removeRouter(2);
    others.apply(placed(100, 5, 3));
    assertThat(sequences.stats().requests()).as("there is room again").isEqualTo(5);
  }
}
