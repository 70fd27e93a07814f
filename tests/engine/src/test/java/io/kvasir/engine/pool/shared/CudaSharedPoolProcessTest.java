package io.kvasir.engine.pool.shared;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.TestDevices;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.model.RankId;
import io.kvasir.testing.pool.PoolChurn;
import io.kvasir.testing.pool.Prompt;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kernels write page and events while another process, which has no device, reads them. */
@Tag("device")
@Tag("process")
class CudaSharedPoolProcessTest {

  private static final PoolShape SHAPE = SharedPoolProcess.SHAPE;
  private static final int ROUNDS = 30;
  private static final int STEPS = 8;
  private static final int READS = 8;
  private static final Pattern COUNTS =
      Pattern.compile("capacityBlocks=(\\d+), freeBlocks=(\\d+), cachedBlocks=(\\d+), activeB.*");

  private final long seed = Long.getLong("kvasir.test.seed", System.nanoTime());

  @TempDir(factory = MemoryFolder.class)
  private Path folder;

  @Test
  void anotherProcessReadsWhileKernelsWriteAndThenKnowsWhatThePoolKnows() throws IOException {
    Path file = folder.resolve("pool");
    try (DeviceApi device = TestDevices.open(seed);
        SharedPoolRegion region = SharedPoolRegion.create(file, SHAPE, new RankId(1, 0), 0);
        CudaBlockPool pool = CudaBlockPool.create(device, region);
        SharedPoolProcess reader = SharedPoolProcess.start("reader", file)) {
      Random random = new Random(seed);
      PoolChurn churn = new PoolChurn(pool, seed);
      int held = 0;
      for (int round = 0; round < ROUNDS; round++) {
        String at = "seed " + seed + ", round " + round;
        CompletableFuture<Void> reading =
            CompletableFuture.runAsync(() -> readWithoutPause(reader, at));
        for (int step = 0; step < STEPS; step++) {
          churn.step();
        }
        reading.join();
        pool.settle();
        Prompt prompt = churn.randomPrompt(random);
        ProbeBatch batch = new ProbeBatch();
        batch.add(prompt.names(), prompt.blocks());
        int[] expected = new int[1];
        pool.probe(batch, expected, 0);
        held += expected[0];
        String names =
            Arrays.stream(prompt.names()).mapToObj(Long::toString).collect(Collectors.joining(" "));
        assertThat(reader.ask(names)).as(at).isEqualTo(expected[0] + " ALIVE " + pool.occupancy());
      }
      assertThat(held).isPositive();
      assertThat(pool.occupancy().evictedBlocks()).isPositive();
    }
  }

  /** Whatever the kernels are doing, the page shows the counts of one moment. */
  private static void readWithoutPause(SharedPoolProcess reader, String at) {
    for (int i = 0; i < READS; i++) {
      String answer = reader.ask("");
      Matcher counts = COUNTS.matcher(answer);
      assertThat(counts.find()).as(at + ": " + answer).isTrue();
      long sum = 0;
      for (int count = 2; count <= 3; count++) {
        sum += Long.parseLong(counts.group(count));
      }
      assertThat(answer).as(at).contains(", activeBlocks=" + (SHAPE.capacityBlocks() - sum) + ", ");
    }
  }
}
