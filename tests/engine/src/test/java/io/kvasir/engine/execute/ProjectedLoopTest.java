package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.BlockDemand;
import io.kvasir.engine.adp.ProjectedAdpRouter;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.NativePrefixMatcher;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The loop with a router that reads work and leaves requests over. */
class ProjectedLoopTest {

  private static final int BLOCK = 4;
  private static final int HISTORIES = 60;
  private static final ChainHasher HASHER = new ChainHasher(BLOCK);

  private final List<NativeBlockPool> pools = new ArrayList<>();
  private WorkWitness witness;
  private FcfsQueue queue;
  private AdpLoop loop;
  private long nowNs;

  private interface Run {
    void run();
  }

  /** Runs with an instance of its own. */
  private void with(int ranks, int blocks, ExecutorOptions options, Run run) {
    boolean reserves = options.capacityPolicy() == CapacityPolicy.GUARANTEED_NO_EVICT;
    witness =
        new WorkWitness(
            new ProjectedAdpRouter(
                ranks,
                StepTiming.DEFAULT,
                options.tokenBudget(),
                new BlockDemand(BLOCK, reserves),
                false,
                "",
                false),
            BLOCK,
            options.enableBlockReuse());
    queue = new FcfsQueue();
    pools.clear();
    NativePrefixMatcher matcher = null;
    try {
      List<RankExecutor> executors = new ArrayList<>();
      for (int rank = 0; rank < ranks; rank++) {
        pools.add(NativeBlockPool.create(new PoolShape(blocks, BLOCK, 256, blocks, 0)));
        executors.add(
            new RankExecutor(rank, pools.get(rank), HASHER, witness.engine(), options, witness));
      }
      matcher = new NativePrefixMatcher(pools);
      loop = new AdpLoop(executors, witness, matcher, queue, witness);
      run.run();
    } finally {
      if (matcher != null) {
        matcher.close();
      }
      pools.forEach(NativeBlockPool::close);
    }
  }

  private void submit(Request request) {
    loop.submit(new HashedRequest(request, HASHER.hash(request.tokens(), CacheScope.NONE)));
  }

  private void iterate() {
    nowNs += loop.iterate(nowNs);
  }

  private int runUntilIdle() {
    int iterations = 0;
    while (!loop.idle()) {
      iterate();
      assertThat(++iterations).as("iterations without end").isLessThan(100_000);
    }
    return iterations;
  }

  @Test
  void routersAreToldWhatANaiveRecountTells() {
    int pending = 0;
    int chunked = 0;
    int paused = 0;
    for (long seed = 0; seed < HISTORIES; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      ExecutorOptions options =
          new ExecutorOptions(
              24 + random.nextInt(60),
              2 + random.nextInt(8),
              random.nextBoolean()
                  ? CapacityPolicy.MAX_UTILIZATION
                  : CapacityPolicy.GUARANTEED_NO_EVICT,
              random.nextInt(4) > 0);
      try {
        with(1 + random.nextInt(4), 30, options, () -> randomHistory(random));
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed + ", " + options + ": " + e.getMessage(), e);
      }
      pending += witness.pending;
      chunked += witness.chunked;
      paused += witness.paused;
    }
    assertThat(List.of(pending, chunked, paused))
        .as("prefixes being computed, prompts half computed, pauses")
        .allMatch(count -> count > 50);
  }

  private void randomHistory(SplittableRandom random) {
    int[] shared = random.ints(80, 0, 1 << 16).toArray();
    long id = 0;
    for (int iteration = 0; iteration < 150; iteration++) {
      for (int burst = random.nextInt(4) == 0 ? random.nextInt(5) : 0; burst > 0; burst--) {
        int[] tokens = Arrays.copyOf(shared, 1 + random.nextInt(80));
        if (random.nextBoolean()) {
          tokens[random.nextInt(tokens.length)] = random.nextInt(1 << 16);
        }
        submit(Request.builder(id++, tokens).maxNewTokens(1 + random.nextInt(30)).build());
      }
      if (id > 0 && random.nextInt(20) == 0) {
        loop.cancel(random.nextLong(id));
      }
      iterate();
    }
    runUntilIdle();
    assertThat(witness.finished).as("every request ended once").hasSize((int) id);
    assertThat(witness.finished).doesNotHaveDuplicates();
  }

  @Test
  void batchesAreSmallWhileRequestsAreLeftOverAndNobodyStarves() {
    with(
        2,
        40,
        ExecutorOptions.DEFAULT,
        () -> {
          // Every request fills most of a pool, so that two run at a time.
          for (int id = 0; id < 300; id++) {
            int[] tokens = new int[100];
            Arrays.fill(tokens, id);
            submit(Request.builder(id, tokens).maxNewTokens(30).build());
            if (id == 1) {
              iterate(); // on idle ranks nobody would wait
            }
          }
          runUntilIdle();
          assertThat(witness.leftOver).isPositive();
          assertThat(witness.largestAfterLeftovers).isEqualTo(64);
          assertThat(witness.finished).hasSize(300).doesNotHaveDuplicates();
          for (int i = 0; i < 300; i++) {
            assertThat(witness.finished.get(i))
                .as("first come, first served: two run at a time")
                .isBetween((long) i - 1, (long) i + 1);
          }
        });
  }

  @Test
  void smallRequestsPassALargeOneOnlySoOften() {
    with(
        1,
        40,
        ExecutorOptions.DEFAULT,
        () -> {
          // Small ones that keep a part of the pool taken come in every iteration.
          long id = 1;
          for (int i = 0; i < 20; i++) {
            submit(small(id++));
            iterate();
          }
          submit(Request.builder(0, new int[130]).maxNewTokens(25).build());
          int iterations = 0;
          while (!witness.finished.contains(0L)) {
            submit(small(id++));
            iterate();
            assertThat(++iterations).as("iterations until the large one is done").isLessThan(1_100);
          }
          assertThat(iterations).as("it was left over a thousand times").isGreaterThan(1_000);
          runUntilIdle();
          assertThat(witness.finished).hasSize((int) id).doesNotHaveDuplicates();
        });
  }

  /** Two blocks for five steps. */
  private static Request small(long id) {
    return Request.builder(id, new int[] {(int) id, 2, 3}).maxNewTokens(5).build();
  }
}
