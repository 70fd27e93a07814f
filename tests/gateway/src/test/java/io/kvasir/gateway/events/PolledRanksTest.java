package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.index.EventStreams;
import io.kvasir.fleet.index.FirstNumber;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.StreamLimits;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Lists of events as TensorRT-LLM answers them to polls. */
class PolledRanksTest {

  private static final long WORKER = 3;
  private static final int BLOCK = 2;

  private final NativePrefixIndex index = new NativePrefixIndex(HashFormat.KVASIR, BLOCK, 1 << 20);
  private final EventStreams streams =
      new EventStreams(
          index,
          (rank, first, last, answer) -> {
            gap(rank);
            answer.gone();
          },
          StreamLimits.DEFAULT,
          FirstNumber.ZERO);
  private final PolledRanks ranks =
      new PolledRanks(WORKER, 2, BLOCK, streams, null, AppliedListener.NONE);

  @AfterEach
  void close() {
    index.close();
  }

  private void gap(RankId rank) {
    ranks.onGap(rank.dpRank());
  }

  private static String stored(long id, int rank, long hash) {
    return """
        {"event_id":%d,"attention_dp_rank":%d,"window_size":64,"data":{"type":"stored","parent_hash":null,
        "blocks":[{"type":"stored_block","block_hash":%d,"cache_level":0,"priority":35,"tokens":[
        {"type":"unique_token","token_id":%d,"token_extra_id":0},
        {"type":"unique_token","token_id":8,"token_extra_id":0}]}]}}"""
        .formatted(id, rank, hash, hash);
  }

  private static String created(long id, int rank) {
    return """
        {"event_id":%d,"attention_dp_rank":%d,"window_size":64,
        "data":{"type":"created","num_blocks_per_cache_level":[9,0]}}"""
        .formatted(id, rank);
  }

  private void answer(String... events) {
    ranks.onAnswer(("[" + String.join(",", events) + "]").getBytes(StandardCharsets.UTF_8), 0);
  }

  private long blocks(int rank) {
    return index.handles(new RankId(WORKER, rank));
  }

  private void assertBlocks(long first, long second) {
    assertThat(blocks(0)).as("rank 0").isEqualTo(first);
    assertThat(blocks(1)).as("rank 1").isEqualTo(second);
  }

  private long gaps(int rank) {
    return ranks.report(rank, 0, 0, false).gaps();
  }

  @Test
  void eachRankHasItsOwnNumbers() {
    answer(created(0, 0), created(0, 1), stored(1, 0, 11), stored(1, 1, 12), stored(2, 1, 13));
    answer(stored(2, 0, 14), stored(3, 0, 15));
    assertBlocks(3, 2);
    assertThat(gaps(0) + gaps(1)).isZero();
    assertThat(ranks.report(0, 3, 0, false).feed().lastNumber()).isEqualTo(3);
  }

  @Test
  void oneSequenceOfNumbersForAllRanksHasNoGaps() {
    answer(created(0, 0), stored(1, 1, 12), stored(2, 0, 11), stored(3, 1, 13));
    answer(stored(4, 1, 14), stored(5, 0, 15));
    assertBlocks(2, 3);
    assertThat(gaps(0) + gaps(1)).isZero();
  }

  @Test
  void eventsThatAnotherReaderTookCostTheRank() {
    answer(created(0, 0), created(0, 1), stored(1, 0, 11), stored(1, 1, 12));
    answer(stored(7, 0, 14));
    assertBlocks(1, 1);
    assertThat(gaps(0)).isEqualTo(1);
    assertThat(gaps(1)).isZero();
  }

  @Test
  void lowerNumbersAreARestart() {
    answer(created(0, 0), created(0, 1), stored(1, 0, 11), stored(2, 0, 12), stored(1, 1, 12));
    answer(created(0, 0), stored(1, 0, 13));
    assertBlocks(1, 1);
    assertThat(gaps(0)).isZero();
  }

  @Test
  void ranksThatTheWorkerIsNotKnownToHaveAreIgnored() {
    answer(created(0, 0), stored(0, 5, 11), stored(1, 0, 12));
    assertBlocks(1, 0);
  }

  @Test
  void aDamagedListIsNotTrustedUntilARestart() {
    answer(created(0, 0), stored(1, 0, 12));
    ranks.onAnswer("[{\"event_id\":2".getBytes(StandardCharsets.UTF_8), 0);
    assertThat(ranks.report(0, 1, 0, false).untrusted()).isTrue();
    assertBlocks(1, 0);
    answer(created(0, 0));
    assertThat(ranks.report(0, 0, 0, false).untrusted()).isFalse();
    assertBlocks(0, 0);
  }

  @Test
  void aWorkerThatDoesNotAnswerIsSilent() {
    answer(created(0, 0));
    assertThat(ranks.report(0, 0, 0, false).feed().state()).isEqualTo(FeedState.LIVE);
    ranks.onAnswer(null, 0);
    assertThat(ranks.report(0, 0, 0, false).feed().state()).isEqualTo(FeedState.SILENT);
  }
}
