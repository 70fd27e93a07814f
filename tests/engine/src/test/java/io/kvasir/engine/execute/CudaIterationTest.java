package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.device.ShimCall;
import io.kvasir.engine.device.ShimDevice;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.timing.StepTiming;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a whole iteration of an executor asks of a device: one submission, one wait. */
class CudaIterationTest {

  private static final int TOKENS_PER_BLOCK = 2;
  private static final int LARGEST_REQUEST = 32; // blocks
  private static final long DEVICE_BYTES = 1 << 24;
  private static final int SEEDS = LongRuns.cases(3, 12);

  /** Counts of all iterations of a workload. */
  private static final class Tally {
    int iterations;
    int withLease;
    int withSeveralLeases;
    int atRest;
    int pauses;
    long evicted;
    int mostWaits;
  }

  /** One rank, which gets requests at random; some are cancelled. */
  private static Tally run(long seed, CapacityPolicy policy, int capacityBlocks) {
    Random random = new Random(seed);
    PoolShape shape = new PoolShape(capacityBlocks, TOKENS_PER_BLOCK, 16, capacityBlocks, 0);
    ChainHasher hasher = new ChainHasher(TOKENS_PER_BLOCK);
    ExecutorOptions options =
        ExecutorOptions.DEFAULT
            .withCapacityPolicy(policy)
            .withTokenBudget(4 + random.nextInt(40))
            .withMaxActiveRequests(16);
    Tally tally = new Tally();
    try (ShimDevice device = ShimDevice.of(DEVICE_BYTES, seed);
        CudaBlockPool onDevice = CudaBlockPool.create(device, shape, 0)) {
      PoolCalls pool = new PoolCalls(onDevice);
      Recorder recorder = new Recorder();
      StepEngine engine = new TimedStepEngine(StepTiming.DEFAULT, 3);
      RankExecutor executor = new RankExecutor(0, pool, hasher, engine, options, recorder);
      int asked = 0;
      while (asked < 40 || executor.hasWork()) {
        while (asked < 40 && executor.activeRequests() < 12 && random.nextInt(3) > 0) {
          executor.submit(hashed(hasher, request(asked++, random, capacityBlocks)), 0);
        }
        if (random.nextInt(8) == 0) {
          executor.cancel(random.nextInt(asked + 1), 0);
        }
        if (executor.hasWork()) {
          iterate(executor, pool, device, tally, "seed " + seed + ", " + shape + ", " + options);
        }
      }
      onDevice.settle();
      tally.pauses = recorder.pauses;
      tally.evicted = onDevice.occupancy().evictedBlocks();
    }
    return tally;
  }

  private static void iterate(
      RankExecutor executor, PoolCalls pool, ShimDevice device, Tally tally, String at) {
    pool.take();
    int copies = device.copiesToDevice();
    int waits = device.count(ShimCall.SYNCHRONIZE);
    executor.beginStep(0);
    executor.endStep(0);
    copies = device.copiesToDevice() - copies;
    waits = device.count(ShimCall.SYNCHRONIZE) - waits;
    List<String> calls = pool.take();
    int leases = (int) calls.stream().filter(call -> call.startsWith("lease")).count();
    assertThat(copies).as("submissions; %s; %s", at, calls).isLessThanOrEqualTo(waits);
    if (leases < 2 && executor.options().capacityPolicy() == CapacityPolicy.GUARANTEED_NO_EVICT) {
      assertThat(waits).as("waits; %s; %s", at, calls).isLessThanOrEqualTo(1);
    }
    tally.mostWaits = Math.max(tally.mostWaits, waits);
    tally.iterations++;
    tally.withLease += leases > 0 ? 1 : 0;
    tally.withSeveralLeases += leases > 1 ? 1 : 0;
    tally.atRest += waits == 0 ? 1 : 0;
  }

  private static Request request(int id, Random random, int capacityBlocks) {
    int room = Math.min(capacityBlocks, LARGEST_REQUEST) * TOKENS_PER_BLOCK;
    int[] tokens = new int[1 + random.nextInt(room * 3 / 5)];
    int shared = random.nextInt(2) * 8;
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = i < shared ? i : random.nextInt(1000);
    }
    return Request.builder(id, tokens).maxNewTokens(1 + random.nextInt(room / 4)).build();
  }

  private static HashedRequest hashed(ChainHasher hasher, Request request) {
    return new HashedRequest(request, hasher.hash(request.tokens(), request.scope()));
  }

  @Test
  void withGuaranteedBlocksAnIterationIsOneSubmissionAndOneWaitAlsoInAFullPool() {
    int several = 0;
    int atRest = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      Tally tally = run(seed, CapacityPolicy.GUARANTEED_NO_EVICT, 24 + 8 * (int) (seed % 3));
      assertThat(tally.evicted).as("seed %d evicts", seed).isGreaterThan(100);
      assertThat(tally.withLease).isGreaterThan(20);
      assertThat(tally.iterations).isGreaterThan(tally.withLease);
      several += tally.withSeveralLeases;
      atRest += tally.atRest;
    }
    assertThat(atRest).as("iterations that need nothing of the device").isPositive();
    assertThat(several).as("iterations that lease again").isLessThan(SEEDS * 10);
  }

  /** What those who start may not find is evicted first: that is the one wait more. */
  @Test
  void withoutGuaranteesOnlyThoseWhoStartOrLackBlocksCostMore() {
    for (long seed = 0; seed < SEEDS; seed++) {
      Tally roomy = run(seed, CapacityPolicy.MAX_UTILIZATION, 500);
      assertThat(roomy.pauses).isZero();
      assertThat(roomy.mostWaits).as("seed %d", seed).isLessThanOrEqualTo(2);
    }
  }
}
