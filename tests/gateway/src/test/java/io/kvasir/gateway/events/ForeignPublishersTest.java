package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.StreamStats;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Publishers in Python and JavaScript: afterwards the index equals what they hold. */
@Tag("process")
class ForeignPublishersTest {

  private static final RankId RANK = new RankId(3, 1);
  private static final long SEED = Long.getLong("kvasir.test.seed", 20261122);

  private final EventPump pump = new EventPump();
  private final NativePrefixIndex index =
      new NativePrefixIndex(HashFormat.KVASIR, PublisherProcess.TOKENS_PER_BLOCK, 1 << 30);
  private final FleetEvents events =
      new FleetEvents(pump, index, PublisherProcess.TOKENS_PER_BLOCK);

  @AfterEach
  void close() {
    pump.close();
    index.close();
  }

  private void follow(PublisherProcess publisher) {
    events.addRank(
        new FeedSpec(RANK, publisher.live(), publisher.replay(), "kv-events", false),
        null,
        AppliedListener.NONE);
  }

  /** Waits until the index has the rank's blocks, all of them and no others. */
  private void awaitTruth(PublisherProcess publisher) throws IOException {
    Map<Long, Long> truth = publisher.truth();
    Await.until(
        truth.size() + " blocks, seed " + SEED + ", " + events.report(RANK),
        () ->
            index.handles(RANK) == truth.size()
                && events.stats().hiddenRanks() == 0
                && truth.entrySet().stream().allMatch(this::isHeld));
  }

  private boolean isHeld(Map.Entry<Long, Long> block) {
    return block.getValue().equals(index.sequenceHash(RANK, block.getKey()));
  }

  @ParameterizedTest
  @CsvSource({
    "python, map, long",
    "python, array, short",
    "python, mixed, long",
    "node, map, short",
    "node, array, long",
    "node, mixed, short"
  })
  void theIndexEqualsWhatThePublisherHolds(String language, String form, String replay)
      throws Exception {
    try (PublisherProcess publisher = PublisherProcess.start(language, SEED, form, replay)) {
      publisher.lose(200);
      follow(publisher);
      awaitTruth(publisher);
      publisher.publish(1_000);
      awaitTruth(publisher);
      publisher.lose(30);
      publisher.publish(300);
      awaitTruth(publisher);
      publisher.lose(30); // the rank is idle now
      awaitTruth(publisher);
      publisher.restart();
      publisher.lose(20);
      awaitTruth(publisher);
      publisher.publish(100);
      awaitTruth(publisher);

      Await.until("one restart", () -> events.report(RANK).feed().restarts() == 1);
      assertThat(events.report(RANK).untrusted()).isFalse();
      StreamStats stats = events.stats();
      assertThat(stats.unknownParents()).isZero();
      assertThat(stats.unknownBlocks()).isZero();
    }
  }

  /** More than libzmq's send limit for one connection, which the publishers leave as it is. */
  @Test
  void aReplayOfTenThousandBatchesIsComplete() throws Exception {
    for (String language : new String[] {"python", "node"}) {
      try (PublisherProcess publisher = PublisherProcess.start(language, SEED, "mixed", "long")) {
        publisher.lose(10_000);
        follow(publisher);
        awaitTruth(publisher);
        assertThat(events.stats().unknownParents()).isZero();
        events.removeRank(RANK);
      }
    }
  }
}
