package io.kvasir.engine.pool.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.model.RankId;
import io.kvasir.testing.pool.PoolChurn;
import io.kvasir.testing.pool.Prompt;
import io.kvasir.testing.pool.RandomPrompts;
import io.kvasir.testing.pool.TestHash;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool and its reader in two processes. */
@Tag("process")
@Tag("jdk")
class SharedPoolProcessTest {

  private static final Duration PATIENCE = Duration.ofSeconds(8);

  @TempDir private Path folder;

  @Test
  void anotherProcessMatchesAsThePoolItself() throws IOException {
    Path file = folder.resolve("pool");
    long seed = Long.getLong("kvasir.test.seed", 1);
    try (SharedPoolRegion region =
            SharedPoolRegion.create(file, SharedPoolProcess.SHAPE, new RankId(1, 0), 0);
        NativeBlockPool pool = NativeBlockPool.create(region);
        SharedPoolProcess reader = SharedPoolProcess.start("reader", file)) {
      Random random = new Random(seed);
      RandomPrompts prompts = new RandomPrompts(random, TestHash.STRONG, SharedPoolProcess.SHAPE);
      PoolChurn churn = new PoolChurn(pool, seed);
      ProbeBatch batch = new ProbeBatch();
      int[] expected = new int[1];
      int held = 0;
      for (int round = 0; round < 120; round++) {
        for (int steps = random.nextInt(12); steps > 0; steps--) {
          churn.step();
        }
        Prompt prompt = round % 10 == 0 ? prompts.next() : churn.randomPrompt(random);
        batch.clear();
        batch.add(prompt.names(), prompt.blocks());
        pool.probe(batch, expected, 0);
        held += expected[0];
        String names =
            Arrays.stream(prompt.names()).mapToObj(Long::toString).collect(Collectors.joining(" "));
        assertThat(reader.ask(names))
            .as("seed %d, round %d", seed, round)
            .isEqualTo(expected[0] + " ALIVE " + pool.occupancy());
      }
      assertThat(held).isPositive();
      assertThat(pool.occupancy().evictedBlocks()).isPositive();
    }
  }

  @Test
  void aKilledOwnerIsDeadAndItsFileCanBeHadAgain() throws IOException {
    Path file = folder.resolve("pool");
    AtomicLong clock = new AtomicLong();
    try (SharedPoolProcess owner = SharedPoolProcess.start("owner", file)) {
      String occupancy = owner.ask("100");
      try (SharedPoolReader reader = SharedPoolReader.open(file, PATIENCE, clock::get)) {
        assertThat(reader.owner()).isEqualTo(SharedPoolReader.Owner.ALIVE);
        assertThat(reader.poll()).isTrue();
        assertThat(reader.occupancy()).hasToString(occupancy);
        assertThatThrownBy(() -> SharedPoolRegion.create(file, reader.shape(), reader.rank(), 0))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("belongs to a pool of another live process");
        owner.kill();
        reader.owner(); // takes notice of the last beats
        clock.addAndGet(PATIENCE.dividedBy(8).toNanos());
        assertThat(reader.owner())
            .as("found by its process, long before the heartbeat is missed")
            .isEqualTo(SharedPoolReader.Owner.DEAD);
        assertThat(reader.occupancy()).hasToString(occupancy);
        try (SharedPoolRegion next =
                SharedPoolRegion.create(file, reader.shape(), reader.rank(), 0);
            NativeBlockPool pool = NativeBlockPool.create(next);
            SharedPoolReader second = SharedPoolReader.open(file, PATIENCE, clock::get)) {
          assertThat(second.owner()).isEqualTo(SharedPoolReader.Owner.ALIVE);
          assertThat(second.occupancy()).isEqualTo(pool.occupancy());
          assertThat(reader.owner()).isEqualTo(SharedPoolReader.Owner.DEAD);
        }
      }
    }
  }

  /** Where the process cannot be looked for, silence alone must tell. */
  @Test
  void aKilledOwnerIsMissedByItsHeartbeat() throws IOException {
    Path file = folder.resolve("pool");
    AtomicLong clock = new AtomicLong();
    try (SharedPoolProcess owner = SharedPoolProcess.start("owner", file)) {
      owner.ask("1");
      hideProcess(file);
      try (SharedPoolReader reader = SharedPoolReader.open(file, PATIENCE, clock::get)) {
        assertThat(reader.owner()).isEqualTo(SharedPoolReader.Owner.ALIVE);
        owner.kill();
        reader.owner(); // takes notice of the last beats
        clock.addAndGet(PATIENCE.toNanos() - 1);
        assertThat(reader.owner()).isEqualTo(SharedPoolReader.Owner.ALIVE);
        clock.addAndGet(1);
        assertThat(reader.owner()).isEqualTo(SharedPoolReader.Owner.DEAD);
      }
    }
  }

  /** Makes the owner one of another container, as its header tells. */
  private static void hideProcess(Path file) throws IOException {
    try (RandomAccessFile header = new RandomAccessFile(file.toFile(), "rw")) {
      header.seek(80);
      header.writeLong(0x0123456789abcdefL);
    }
  }
}
