package io.kvasir.engine.pool.shared;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Fuzz;
import io.kvasir.testing.pool.PoolChurn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A reader of a region and of snapshots whose bytes are damaged while it polls: every call returns,
 * in a documented state.
 */
@Tag("fuzz")
class SharedPoolFuzzTest {

  private static final RankId RANK = new RankId(1, 0);
  private static final PoolShape SHAPE = new PoolShape(60, 2, 6, 12, 500);
  private static final Duration DEAD_AFTER = Duration.ofSeconds(2);
  private static final int CONSTANTS = 128;
  private static final int STEPS = 4000;

  private final AtomicLong clock = new AtomicLong();
  @TempDir private Path folder;
  private long gaps;
  private long snapshots;
  private long failedSnapshots;

  @Test
  void aReaderSurvivesAnyBytes() {
    Fuzz.run("shared pool", this::damagePoolAndReader);
    assertThat(gaps).isPositive();
    assertThat(snapshots).isPositive();
    assertThat(failedSnapshots).isPositive();
  }

  private void damagePoolAndReader(Random random) throws IOException {
    Path file = folder.resolve("pool");
    try (SharedPoolRegion region = SharedPoolRegion.create(file, SHAPE, RANK, 0);
        NativeBlockPool pool = NativeBlockPool.create(region);
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer bytes =
          channel
              .map(FileChannel.MapMode.READ_WRITE, 0, channel.size())
              .order(ByteOrder.nativeOrder());
      PoolChurn churn = new PoolChurn(pool, random.nextLong());
      SharedPoolReader reader = open(file);
      for (int step = 0; step < STEPS; step++) {
        churn.step();
        if (random.nextInt(3) == 0) {
          damage(bytes, random);
        }
        if (random.nextInt(4) == 0) {
          clock.addAndGet(DEAD_AFTER.toNanos());
        }
        if (random.nextInt(4) == 0) {
          damageSnapshot(folder.resolve("pool.snapshot"), random);
        }
        use(reader, churn.probes());
        if (random.nextInt(1000) == 0) {
          close(reader);
          reader = open(file);
        }
        if (random.nextInt(40) == 0) {
          openCopy(bytes, random);
        }
      }
      close(reader);
    }
  }

  /** Null if it is refused. */
  private SharedPoolReader open(Path file) {
    try {
      return SharedPoolReader.open(file, DEAD_AFTER, clock::get);
    } catch (IOException e) {
      assertThat(e).hasMessageStartingWith(file.toString());
      return null;
    }
  }

  private void close(SharedPoolReader reader) {
    gaps += reader.gaps();
    snapshots += reader.snapshots();
    failedSnapshots += reader.failedSnapshots();
    reader.close();
  }

  private static void use(SharedPoolReader reader, ProbeBatch probes) {
    boolean inSync = reader.poll();
    int[] matched = new int[probes.size()];
    reader.probe(probes, matched, 0);
    assertThat(
            Arrays.stream(matched).allMatch(blocks -> blocks >= 0 && blocks <= (inSync ? 12 : 0)))
        .as("in sync: %s, matched %s", inSync, Arrays.toString(matched))
        .isTrue();
    assertThat(reader.owner()).isNotNull();
    assertThat(reader.nextEvent()).isNotNegative();
    Occupancy occupancy = reader.occupancy();
    if (occupancy != null) {
      assertThat(occupancy.freeBlocks() + occupancy.cachedBlocks() + occupancy.activeBlocks())
          .isEqualTo(reader.shape().capacityBlocks());
      assertThat(occupancy.availableBlocks()).isNotNegative();
    }
  }

  /** Words anywhere behind the constants, but half of them where they matter most. */
  private static void damage(ByteBuffer bytes, Random random) {
    int[] heads = {
      SharedPoolLayout.RING,
      SharedPoolLayout.RING + 8,
      SharedPoolLayout.PAGE,
      SharedPoolLayout.HEARTBEAT,
      SharedPoolLayout.REQUESTED,
      SharedPoolLayout.ANSWERED
    };
    for (int times = 1 + random.nextInt(3); times > 0; times--) {
      int at =
          random.nextBoolean()
              ? heads[random.nextInt(heads.length)]
              : CONSTANTS + 8 * random.nextInt((bytes.capacity() - CONSTANTS) / 8);
      bytes.putLong(at, oddWord(bytes.getLong(at), random));
    }
    if (random.nextInt(20) == 0) {
      int from = SharedPoolLayout.PAGE + random.nextInt(bytes.capacity() - SharedPoolLayout.PAGE);
      for (int at = from; at < bytes.capacity(); at++) {
        bytes.put(at, (byte) random.nextInt());
      }
    }
  }

  private static long oddWord(long word, Random random) {
    return switch (random.nextInt(6)) {
      case 0 -> word ^ 1L << random.nextInt(64);
      case 1 -> word + random.nextInt(1200) - 600;
      case 2 -> (1L << random.nextInt(64)) + random.nextInt(3) - 1;
      case 3 -> random.nextInt(1000);
      case 4 -> -1 - random.nextInt(200);
      default -> random.nextLong();
    };
  }

  private static void damageSnapshot(Path snapshot, Random random) throws IOException {
    if (!Files.exists(snapshot)) {
      return;
    }
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(snapshot)).order(ByteOrder.nativeOrder());
    for (int times = random.nextInt(3); times > 0 && bytes.capacity() >= 8; times--) {
      int at = 8 * random.nextInt(bytes.capacity() / 8);
      bytes.putLong(at, oddWord(bytes.getLong(at), random));
    }
    int length = random.nextInt(4) == 0 ? random.nextInt(bytes.capacity() + 1) : bytes.capacity();
    Files.write(snapshot, Arrays.copyOf(bytes.array(), length));
  }

  /** Opens a copy that is damaged in its header, or cut off. */
  private void openCopy(ByteBuffer bytes, Random random) throws IOException {
    ByteBuffer copy = ByteBuffer.allocate(bytes.capacity()).order(ByteOrder.nativeOrder());
    copy.put(0, bytes, 0, bytes.capacity());
    for (int times = random.nextInt(3); times > 0; times--) {
      int at = 4 * random.nextInt(24);
      copy.putInt(at, (int) oddWord(copy.getInt(at), random));
    }
    int length = random.nextBoolean() ? random.nextInt(copy.capacity() + 1) : copy.capacity();
    Path file = folder.resolve("copy");
    PrivateFiles.create(file).close();
    Files.write(file, Arrays.copyOf(copy.array(), length));
    SharedPoolReader reader = open(file);
    if (reader != null) {
      use(reader, new ProbeBatch());
      close(reader);
    }
    Files.delete(file);
  }
}
