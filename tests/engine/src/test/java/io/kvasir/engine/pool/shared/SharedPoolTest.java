package io.kvasir.engine.pool.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.NativePrefixMatcher;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.OccupancyPage;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.engine.pool.shared.SharedPoolReader.Owner;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.pool.PoolChurn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool and its reader, over two mappings of one file. */
class SharedPoolTest {

  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final RankId RANK = new RankId(-1, 3);
  private static final PoolShape SHAPE = new PoolShape(60, 2, 6, 12, 64);
  private final AtomicLong clock = new AtomicLong(17);
  @TempDir private Path folder;

  private Path file() {
    return folder.resolve("pool");
  }

  private SharedPoolRegion region() throws IOException {
    return SharedPoolRegion.create(file(), SHAPE, RANK, 4096);
  }

  private SharedPoolReader reader() throws IOException {
    return SharedPoolReader.open(file(), PATIENCE, clock::get);
  }

  private void pass(Duration time) {
    clock.addAndGet(time.toNanos());
  }

  private static int[] matched(SharedPoolReader reader, ProbeBatch batch) {
    int[] matched = new int[batch.size()];
    reader.probe(batch, matched, 0);
    return matched;
  }

  @Test
  void aReaderKnowsWhatThePoolKnows() throws IOException {
    try (SharedPoolRegion region = region();
        SharedPoolReader reader = reader()) {
      assertThat(reader.rank()).isEqualTo(RANK);
      assertThat(reader.shape()).isEqualTo(SHAPE);
      assertThat(reader.kvBytesPerBlock()).isEqualTo(4096);
      assertThat(reader.occupancy()).as("before there is a pool").isNull();
      try (NativeBlockPool pool = NativeBlockPool.create(region)) {
        long seed = Long.getLong("kvasir.test.seed", 1);
        PoolChurn churn = new PoolChurn(pool, seed);
        for (int step = 0; step < 500; step++) {
          churn.step();
          assertThat(reader.poll()).as("seed %d, step %d", seed, step).isTrue();
          assertThat(reader.occupancy()).isEqualTo(pool.occupancy());
          assertThat(matched(reader, churn.probes()))
              .as("seed %d, step %d", seed, step)
              .isEqualTo(churn.matched());
        }
        assertThat(reader.gaps()).isZero();
        assertThat(pool.occupancy().evictedBlocks()).isPositive();
        assertThat(reader.nextEvent()).isGreaterThan(SHAPE.eventCapacity());
      }
    }
  }

  /** A reader that looks too seldom loses events, knows nothing, and catches up by a snapshot. */
  @Test
  void aReaderThatFellBehindCatchesUp() throws IOException {
    try (SharedPoolRegion region = region();
        NativeBlockPool pool = NativeBlockPool.create(region);
        SharedPoolReader reader = reader()) {
      long seed = Long.getLong("kvasir.test.seed", 2);
      Random random = new Random(seed);
      PoolChurn churn = new PoolChurn(pool, seed);
      int unknown = 0;
      for (int round = 0; round < 200; round++) {
        for (int steps = random.nextInt(random.nextInt(8) == 0 ? 60 : 4); steps > 0; steps--) {
          churn.step();
        }
        pass(PATIENCE.dividedBy(2));
        if (reader.poll()) {
          assertThat(matched(reader, churn.probes()))
              .as("seed %d, round %d", seed, round)
              .isEqualTo(churn.matched());
        } else {
          unknown++;
          assertThat(matched(reader, churn.probes())).containsOnly(0);
        }
      }
      assertThat(reader.gaps()).isPositive();
      assertThat(reader.snapshots()).isPositive();
      assertThat(reader.failedSnapshots()).isZero();
      assertThat(unknown).isPositive();
    }
  }

  @Test
  void anIdleOwnerServesSnapshotsWhenAsked() throws IOException {
    try (SharedPoolRegion region = region();
        NativeBlockPool pool = NativeBlockPool.create(region)) {
      PoolChurn churn = new PoolChurn(pool, 3);
      while (region.nextEvent() < 3L * SHAPE.eventCapacity()) {
        churn.comeOrGo();
      }
      try (SharedPoolReader late = reader();
          SharedPoolReader other = reader()) {
        assertThat(late.poll()).isFalse();
        assertThat(other.poll()).isFalse();
        assertThat(late.poll()).as("nobody has answered").isFalse();
        pool.serveSnapshots();
        assertThat(region.snapshotWanted()).isFalse();
        assertThat(late.poll()).isTrue();
        assertThat(other.poll()).isTrue();
        assertThat(matched(late, churn.probes())).isEqualTo(churn.matched());
        assertThat(matched(other, churn.probes())).isEqualTo(churn.matched());
      }
    }
  }

  /** At most one request in the reader's patience, so that it cannot keep the owner busy. */
  @Test
  void aSnapshotThatIsNotThereIsAskedForAgainLater() throws IOException {
    try (SharedPoolRegion region = region();
        NativeBlockPool pool = NativeBlockPool.create(region)) {
      PoolChurn churn = new PoolChurn(pool, 4);
      while (region.nextEvent() < 3L * SHAPE.eventCapacity()) {
        churn.comeOrGo();
      }
      try (SharedPoolReader reader = reader()) {
        reader.poll();
        pool.serveSnapshots();
        Path snapshot = folder.resolve("pool.snapshot");
        Files.write(snapshot, new byte[] {1, 2, 3});
        assertThat(reader.poll()).isFalse();
        assertThat(reader.failedSnapshots()).isOne();
        reader.poll();
        assertThat(region.snapshotWanted()).as("too soon").isFalse();
        pass(PATIENCE);
        reader.poll();
        assertThat(region.snapshotWanted()).isTrue();
        pool.serveSnapshots();
        assertThat(reader.poll()).isTrue();
      }
    }
  }

  @Test
  void anOwnerIsAliveWhileItsHeartBeats() throws IOException {
    try (SharedPoolRegion region = region();
        SharedPoolReader reader = reader()) {
      assertThat(reader.owner()).isEqualTo(Owner.ALIVE);
      pass(PATIENCE.minusNanos(1));
      assertThat(reader.owner()).isEqualTo(Owner.ALIVE);
      pass(Duration.ofNanos(1));
      assertThat(reader.owner()).isEqualTo(Owner.DEAD);
      region.beat();
      assertThat(reader.owner()).isEqualTo(Owner.ALIVE);
      pass(PATIENCE);
      assertThat(reader.owner()).isEqualTo(Owner.DEAD);
    }
  }

  @Test
  void theHeartbeatThreadBeatsUntilTheEnd() throws IOException {
    SharedPoolRegion region = region();
    try (SharedPoolReader reader = reader()) {
      region.startHeartbeat(Duration.ofMillis(1));
      assertThatIllegalStateException()
          .isThrownBy(() -> region.startHeartbeat(Duration.ofMillis(1)));
      for (int beats = 0; beats < 3; beats++) {
        pass(PATIENCE);
        Await.until("a beat", () -> reader.owner() == Owner.ALIVE);
      }
      region.close();
      assertThat(reader.owner()).isEqualTo(Owner.CLOSED);
    }
  }

  @Test
  void anOwnerThatClosesSaysSoAndLeavesNothingBehind() throws IOException {
    SharedPoolRegion region = region();
    try (SharedPoolReader reader = reader()) {
      region.close();
      region.close();
      assertThat(reader.owner()).isEqualTo(Owner.CLOSED);
      try (Stream<Path> left = Files.list(folder)) {
        assertThat(left).containsExactly(folder.resolve("pool.lock"));
      }
      assertThatIllegalStateException().isThrownBy(region::pageAddress);
      assertThatIllegalStateException().isThrownBy(() -> NativeBlockPool.create(region));
    }
  }

  /** An owner that dies in the middle of a page must not take its readers along. */
  @Test
  void aPageThatIsNeverFinishedIsReadAsItWasBefore() throws IOException {
    try (SharedPoolRegion region = region();
        NativeBlockPool pool = NativeBlockPool.create(region);
        SharedPoolReader reader = reader()) {
      Occupancy before = reader.occupancy();
      assertThat(before).isEqualTo(pool.occupancy());
      ByteBuffer page = NativeMemory.view(region.pageAddress(), OccupancyPage.BYTES);
      page.putLong(0, page.getLong(0) + 1);
      page.putLong(8, 12345);
      assertThat(reader.occupancy()).isEqualTo(before);
      Occupancy own = Await.call("the occupancy", pool::occupancy);
      assertThat(own).isEqualTo(before);
      new PoolChurn(pool, 1).step();
      assertThat(reader.occupancy()).as("the next page").isEqualTo(pool.occupancy());
    }
  }

  @Test
  void countsThatContradictTheShapeAreNotReported() throws IOException {
    try (SharedPoolRegion region = region();
        NativeBlockPool pool = NativeBlockPool.create(region);
        SharedPoolReader reader = reader()) {
      Occupancy before = reader.occupancy();
      ByteBuffer page = NativeMemory.view(region.pageAddress(), OccupancyPage.BYTES);
      for (int count = 1; count <= 5; count++) {
        for (long wrong : new long[] {-1, SHAPE.capacityBlocks() + 1, Long.MAX_VALUE}) {
          long right = page.getLong(count * Long.BYTES);
          page.putLong(count * Long.BYTES, wrong);
          assertThat(reader.occupancy()).as("count %d is %d", count, wrong).isEqualTo(before);
          page.putLong(count * Long.BYTES, right);
        }
      }
      assertThat(pool.occupancy()).isEqualTo(before);
    }
  }

  /** A reader that copied the same events again and again would never return. */
  @Test
  void aDamagedRingIsTreatedAsMissedEvents() throws IOException {
    PoolShape shape = SHAPE.withEvents(1 << 10);
    try (SharedPoolRegion region = SharedPoolRegion.create(file(), shape, RANK, 0);
        NativeBlockPool pool = NativeBlockPool.create(region);
        SharedPoolReader reader = reader()) {
      PoolChurn churn = new PoolChurn(pool, 6);
      ByteBuffer ring = NativeMemory.view(region.ringAddress(), 64 + 32 * (1 << 10));
      for (long next : new long[] {0, 1L << 40, Long.MAX_VALUE, -1}) {
        churn.comeOrGo();
        assertThat(reader.poll()).isTrue();
        ring.putLong(0, next);
        ring.putLong(8, 0);
        boolean inSync = Await.call("a poll", reader::poll);
        assertThat(inSync).as("next event %d", next).isFalse();
        assertThat(matched(reader, churn.probes())).containsOnly(0);
        churn.comeOrGo();
        pass(PATIENCE);
        reader.poll(); // requests a snapshot
        pool.serveSnapshots();
        assertThat(reader.poll()).as("after next event %d", next).isTrue();
        assertThat(matched(reader, churn.probes())).isEqualTo(churn.matched());
      }
    }
  }

  @Test
  void aMatcherLeavesOutRanksThatDiedOrWereRetired() throws IOException {
    try (SharedPoolRegion region = region();
        NativeBlockPool pool = NativeBlockPool.create(region);
        SharedPoolRegion otherRegion =
            SharedPoolRegion.create(folder.resolve("other"), SHAPE, new RankId(-1, 4), 0);
        NativeBlockPool otherPool = NativeBlockPool.create(otherRegion);
        SharedPoolReader reader = reader();
        SharedPoolReader other =
            SharedPoolReader.open(folder.resolve("other"), PATIENCE, clock::get);
        SharedPrefixMatcher matcher = new SharedPrefixMatcher(List.of(reader, other));
        NativePrefixMatcher oracle = new NativePrefixMatcher(List.of(pool, otherPool))) {
      PoolChurn churn = new PoolChurn(pool, 5);
      PoolChurn otherChurn = new PoolChurn(otherPool, 5);
      for (int step = 0; step < 20; step++) {
        churn.step();
        otherChurn.step();
      }
      ProbeBatch batch = churn.probes();
      PrefixMatches expected = oracle.match(batch);
      PrefixMatches matches = matcher.match(batch);
      int held = 0;
      for (int prompt = 0; prompt < batch.size(); prompt++) {
        assertThat(matches.tokens(0, prompt)).isEqualTo(expected.tokens(0, prompt));
        assertThat(matches.tokens(1, prompt)).isEqualTo(expected.tokens(1, prompt));
        held += matches.tokens(1, prompt);
      }
      assertThat(held).isPositive();
      assertThat(matcher.skippedRanks()).isEmpty();
      pass(PATIENCE);
      region.beat();
      matches = matcher.match(batch);
      assertThat(matcher.skippedRanks()).containsExactly(other.rank());
      for (int prompt = 0; prompt < batch.size(); prompt++) {
        assertThat(matches.tokens(0, prompt)).isEqualTo(expected.tokens(0, prompt));
        assertThat(matches.tokens(1, prompt)).isZero();
      }
      otherRegion.beat();
      matcher.retire(0);
      matches = matcher.match(batch);
      assertThat(matcher.skippedRanks()).containsExactly(RANK);
      for (int prompt = 0; prompt < batch.size(); prompt++) {
        assertThat(matches.tokens(0, prompt)).isZero();
        assertThat(matches.tokens(1, prompt)).isEqualTo(expected.tokens(1, prompt));
      }
    }
  }
}
