package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.zeromq.ZContext;

/** An index that has run out of memory costs its own model the matches, and no other model. */
class FailedIndexTest {

  /** Fails as the native index does: first with an error, then with every call but matches. */
  private static final class FailingIndex implements PrefixIndex {
    final Map<RankId, Boolean> visible = new ConcurrentHashMap<>();
    volatile boolean fails;
    volatile int applied;

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    public ChangeStatus apply(RankId rank, BlockEvent event) {
      if (fails) {
        throw new OutOfMemoryError("for the test");
      }
      applied++;
      return ChangeStatus.APPLIED;
    }

    @Override
    public void removeRank(RankId rank) {
      require();
    }

    private void require() {
      if (fails) {
        throw new IllegalStateException("for the test");
      }
    }

    @Override
    public void setVisible(RankId rank, boolean now) {
      visible.put(rank, now);
    }

    @Override
    public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
      matches.clear();
    }

    @Override
    public long handles(RankId rank) {
      require();
      return applied;
    }

    @Override
    public IndexStats stats() {
      throw new IllegalStateException("for the test");
    }

    @Override
    public void close() {}
  }

  @Test
  void anotherModelsRanksGoOnWithoutARestart() {
    FailingIndex failing = new FailingIndex();
    FailingIndex healthy = new FailingIndex();
    try (ZContext context = new ZContext();
        EventPump pump = new EventPump();
        SoakPublisher first = new SoakPublisher(context, new RankId(1, 0), 1);
        SoakPublisher second = new SoakPublisher(context, new RankId(2, 0), 2)) {
      FleetEvents ofFailing = new FleetEvents(pump, failing, SoakFrames.TOKENS_PER_BLOCK);
      FleetEvents ofHealthy = new FleetEvents(pump, healthy, SoakFrames.TOKENS_PER_BLOCK);
      ofFailing.addRank(first.spec(), null, AppliedListener.NONE);
      ofHealthy.addRank(second.spec(), null, AppliedListener.NONE);
      first.awaitSubscriber();
      second.awaitSubscriber();
      first.publishBatch();
      second.publishBatch();
      Await.until(
          "first batches", () -> batches(ofFailing, first) == 1 && batches(ofHealthy, second) == 1);
      failing.fails = true;
      first.publishBatch();
      Await.until(
          "the end of the first model's matches",
          () -> Boolean.FALSE.equals(failing.visible.get(first.spec().rank())));
      for (int i = 0; i < 20; i++) {
        first.publishBatch();
        second.publishBatch();
      }
      Await.until("all batches", () -> batches(ofHealthy, second) == 21);
      RankReport failed = ofFailing.report(first.spec().rank());
      assertThat(failed.feed().state()).isEqualTo(FeedState.FAILED);
      assertThat(failed.blocks()).isZero();
      assertThat(ofFailing.isLive(first.spec().rank())).isFalse();
      RankReport other = ofHealthy.report(second.spec().rank());
      assertThat(other.feed().state()).isEqualTo(FeedState.LIVE);
      assertThat(other.feed().restarts()).isZero();
      ofFailing.startOver(first.spec().rank());
      ofFailing.removeRank(first.spec().rank());
      ofFailing.addRank(first.spec(), null, AppliedListener.NONE);
      second.publishBatch();
      Await.until("one more", () -> batches(ofHealthy, second) == 22);
    }
  }

  private static long batches(FleetEvents events, SoakPublisher of) {
    RankReport report = events.report(of.spec().rank());
    return report == null ? 0 : report.feed().batches();
  }
}
