package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.TestInstance.request;
import static io.kvasir.engine.execute.TestInstance.requestBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.lang.management.ManagementFactory;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How one rank runs its requests, apart from what happens when its pool is full. */
class RankExecutorTest {

  private static final int MS = 1_000_000;

  private final PlanRecorder plans = new PlanRecorder();

  private TestInstance.Setup rank(int capacityBlocks, int tokensPerBlock) {
    return TestInstance.with(1, capacityBlocks, tokensPerBlock).engines(pool -> plans);
  }

  @Test
  void prefillYieldsTheFirstTokenAndEachDecodeStepTheNext() {
    try (TestInstance instance = rank(10, 4).build()) {
      instance.submit(request(1, 100, 5, 3));
      assertThat(instance.iterate())
          .containsExactly("placed 1 on 0 @0", "started 1 cached 0", "token 1/0 @" + MS);
      assertThat(instance.iterate()).containsExactly("token 1/1 @" + 2 * MS);
      assertThat(instance.iterate())
          .containsExactly("token 1/2 @" + 3 * MS, "finished 1 @" + 3 * MS);
      assertThat(plans.take())
          .containsExactly("prefill 1: 0+5 -> 0", "decode 1: 5+1 -> 1", "decode 1: 6+1 -> 2");
      assertThat(instance.recorder.finished.get(1L)).containsExactly(7, 7, 7);
      assertThat(instance.loop.idle()).isTrue();
      instance.assertNothingHeld();
    }
  }

  @Test
  void aRequestForOneTokenEndsWithItsPrefill() {
    try (TestInstance instance = rank(10, 4).build()) {
      instance.submit(request(1, 100, 4, 1));
      assertThat(instance.iterate()).endsWith("token 1/0 @" + MS, "finished 1 @" + MS);
      instance.assertNothingHeld();
    }
  }

  @Test
  void aLongPromptIsComputedInChunksThatEndAtBlockBoundaries() {
    try (TestInstance instance =
        rank(10, 4).options(ExecutorOptions.DEFAULT.withTokenBudget(10)).build()) {
      instance.submit(request(1, 100, 21, 1));
      instance.runUntilIdle();
      assertThat(plans.take())
          .containsExactly("prefill 1: 0+8", "prefill 1: 8+8", "prefill 1: 16+5 -> 0");
    }
  }

  @Test
  void aBudgetBelowABlockStillMakesProgressAndMeetsTheNextBoundary() {
    try (TestInstance instance =
        rank(10, 8).options(ExecutorOptions.DEFAULT.withTokenBudget(3)).build()) {
      instance.submit(request(1, 100, 10, 1));
      instance.runUntilIdle();
      assertThat(plans.take())
          .containsExactly(
              "prefill 1: 0+3", "prefill 1: 3+3", "prefill 1: 6+2", "prefill 1: 8+2 -> 0");
    }
  }

  @Test
  void decodingComesFirstThenTheUnfinishedPrefillThenNewRequests() {
    try (TestInstance instance =
        rank(50, 4).options(ExecutorOptions.DEFAULT.withTokenBudget(10)).build()) {
      instance.submit(request(1, 100, 2, 9));
      instance.submit(request(2, 200, 11, 9));
      instance.submit(request(3, 300, 2, 9));
      instance.submit(request(4, 400, 20, 9));
      instance.iterate();
      assertThat(plans.take()).containsExactly("prefill 1: 0+2 -> 0", "prefill 2: 0+8");
      instance.iterate();
      assertThat(plans.take())
          .containsExactly(
              "decode 1: 2+1 -> 1", "prefill 2: 8+3 -> 0", "prefill 3: 0+2 -> 0", "prefill 4: 0+4");
      instance.iterate();
      assertThat(plans.take())
          .containsExactly(
              "decode 1: 3+1 -> 2", "decode 2: 11+1 -> 1", "decode 3: 2+1 -> 1", "prefill 4: 4+4");
    }
  }

  @Test
  void aNewRequestDoesNotStartWithLessThanABlockOfBudget() {
    try (TestInstance instance =
        rank(50, 4).options(ExecutorOptions.DEFAULT.withTokenBudget(10)).build()) {
      instance.submit(request(1, 100, 8, 1));
      instance.submit(request(2, 200, 8, 1));
      instance.iterate();
      assertThat(plans.take()).containsExactly("prefill 1: 0+8 -> 0");
    }
  }

  @Test
  void whenMoreDecodeThanTheBudgetAllowsTheOldestGoOn() {
    try (TestInstance instance =
        rank(50, 4).options(ExecutorOptions.DEFAULT.withTokenBudget(2)).build()) {
      instance.submit(request(1, 100, 1, 4));
      instance.submit(request(2, 200, 1, 4));
      instance.submit(request(3, 300, 1, 4));
      instance.iterate();
      plans.take();
      instance.iterate();
      assertThat(plans.take()).containsExactly("decode 1: 1+1 -> 1", "decode 2: 1+1 -> 1");
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).containsOnlyKeys(1L, 2L, 3L);
    }
  }

  @Test
  void promptsShareFullBlocksButTheLastTokenIsAlwaysComputed() {
    try (TestInstance instance = rank(50, 4).build()) {
      instance.submit(request(1, 100, 8, 1));
      instance.runUntilIdle();
      plans.take();
      instance.submit(request(2, 100, 8, 1));
      instance.submit(request(3, 100, 9, 1));
      instance.runUntilIdle();
      assertThat(plans.take()).containsExactly("prefill 2: 4+4 -> 0", "prefill 3: 8+1 -> 0");
    }
  }

  @Test
  void generatedBlocksAreReusedByTheNextTurn() {
    try (TestInstance instance = rank(50, 4).build()) {
      instance.submit(request(1, 100, 6, 7));
      instance.runUntilIdle();
      plans.take();
      int[] turn =
          IntStream.concat(
                  IntStream.concat(IntStream.range(100, 106), IntStream.generate(() -> 7).limit(7)),
                  IntStream.of(1, 2, 3))
              .toArray();
      instance.submit(Request.builder(2, turn).build());
      instance.runUntilIdle();
      assertThat(plans.take())
          .as("6 + 7 - 1 tokens were computed")
          .containsExactly("prefill 2: 12+4 -> 0");
    }
  }

  @Test
  void withoutReuseNothingIsNamedAndEveryPromptIsComputed() {
    try (TestInstance instance =
        rank(50, 4).options(ExecutorOptions.DEFAULT.withBlockReuse(false)).build()) {
      instance.submit(request(1, 100, 8, 5));
      instance.runUntilIdle();
      assertThat(instance.occupancy(0).cachedBlocks()).isZero();
      instance.submit(request(2, 100, 8, 1));
      instance.runUntilIdle();
      assertThat(plans.take()).contains("prefill 2: 0+8 -> 0");
    }
  }

  @Test
  void aStepCallsThePoolOnceForEachKindOfChangeAndNotAtAllWithoutOne() {
    PoolCalls[] calls = new PoolCalls[1];
    try (TestInstance instance =
        rank(50, 4).wrapper(pool -> calls[0] = new PoolCalls(pool)).build()) {
      instance.submit(request(1, 100, 8, 6));
      instance.submit(request(2, 200, 8, 6));
      instance.iterate();
      assertThat(calls[0].take()).containsExactly("probe 1", "probe 1", "lease 2", "commit 2");
      instance.iterate();
      assertThat(calls[0].take()).containsExactly("extend 2");
      instance.iterate();
      instance.iterate();
      assertThat(calls[0].take()).isEmpty();
      instance.iterate();
      assertThat(calls[0].take()).containsExactly("commit 2");
      instance.iterate();
      assertThat(calls[0].take()).containsExactly("extend 2", "release 2");
    }
  }

  @Test
  void aRequestThatCanNeverFitIsRejectedWithTheNumbers() {
    try (TestInstance instance = rank(5, 4).build()) {
      instance.submit(request(1, 100, 10, 11));
      instance.submit(request(2, 200, 10, 12));
      instance.submit(request(3, 300, 0, 1));
      instance.submit(request(4, 400, 10, Integer.MAX_VALUE));
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).containsOnlyKeys(1L);
      assertThat(instance.recorder.rejected)
          .containsOnlyKeys(2L, 3L, 4L)
          .containsEntry(
              2L,
              "prompt and output need 21 tokens of KV, which is 6 blocks of 4; the pool of rank 0"
                  + " has 5 blocks, and one request may hold 5")
          .containsEntry(3L, "the prompt has 0 tokens; it must have at least 1");
      instance.assertNothingHeld();
    }
  }

  @Test
  void aRequestThatNeedsALongerBlockTableThanThereIsIsRejected() {
    try (TestInstance instance = rank(50, 4).maxBlocksPerLease(5).build()) {
      instance.submit(request(1, 100, 10, 11));
      instance.submit(request(2, 200, 10, 12));
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).containsOnlyKeys(1L);
      assertThat(instance.recorder.rejected.get(2L)).endsWith("one request may hold 5");
    }
  }

  @Test
  void theLedgerCountsWhatRequestsFoundCached() {
    try (TestInstance instance = rank(50, 4).build()) {
      instance.submit(request(1, 100, 9, 1));
      instance.runUntilIdle();
      RankExecutor executor = instance.executors.get(0);
      executor.submit(instance.hashed(request(2, 100, 10, 5)), 0);
      assertThat(executor.state(LoadMetric.UNCACHED_PROMPT_TOKENS).activeTokens()).isEqualTo(10);
      executor.endStep(executor.beginStep(0));
      RankState state = executor.state(LoadMetric.UNCACHED_PROMPT_TOKENS);
      assertThat(state.activeTokens()).isEqualTo(2);
      assertThat(state.activeRequests()).isEqualTo(1);
      assertThat(state.occupancy()).isEqualTo(instance.occupancy(0));
      assertThat(executor.state(LoadMetric.PROMPT_TOKENS).activeTokens()).isEqualTo(10);
    }
  }

  @Test
  void cancellingReturnsAllBlocksAtEveryStage() {
    try (TestInstance instance =
        rank(50, 4).options(ExecutorOptions.DEFAULT.withTokenBudget(8)).build()) {
      RankExecutor executor = instance.executors.get(0);
      executor.submit(instance.hashed(request(1, 100, 2, 20)), 0);
      executor.submit(instance.hashed(request(2, 200, 20, 20)), 0);
      executor.submit(instance.hashed(request(3, 300, 5, 20)), 0);
      executor.endStep(executor.beginStep(0));
      executor.endStep(executor.beginStep(0));
      assertThat(executor.cancel(3, 5)).as("waiting").isTrue();
      assertThat(executor.cancel(2, 5)).as("prefilling").isTrue();
      assertThat(executor.cancel(1, 5)).as("decoding").isTrue();
      assertThat(executor.cancel(1, 5)).as("gone").isFalse();
      assertThat(instance.recorder.cancelled).containsExactly(3L, 2L, 1L);
      assertThat(executor.hasWork()).isFalse();
      instance.assertNothingHeld();
    }
  }

  @Test
  void anIdleRankTakesNoTime() {
    try (TestInstance instance = rank(10, 4).build()) {
      RankExecutor executor = instance.executors.get(0);
      assertThat(executor.beginStep(0)).isZero();
      executor.endStep(0);
      assertThat(plans.take()).isEmpty();
    }
  }

  @Test
  void betweenTheHalvesOfAStepNothingElseIsAllowed() {
    try (TestInstance instance = rank(10, 4).build()) {
      RankExecutor executor = instance.executors.get(0);
      executor.submit(instance.hashed(request(1, 100, 2, 2)), 0);
      executor.beginStep(0);
      HashedRequest other = instance.hashed(request(2, 100, 2, 2));
      assertThatThrownBy(() -> executor.submit(other, 0)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> executor.cancel(1, 0)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> executor.beginStep(0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the step of rank 0 has not ended");
    }
  }

  @Test
  void refusesWhatItCannotTakeOver() {
    try (TestInstance instance =
        rank(50, 4).options(ExecutorOptions.DEFAULT.withMaxActiveRequests(1)).build()) {
      RankExecutor executor = instance.executors.get(0);
      Request nine = request(1, 100, 9, 2);
      HashedRequest misfit = new HashedRequest(nine, new BlockHashes(new long[1], new long[1]));
      assertThatThrownBy(() -> executor.submit(misfit, 0))
          .hasMessage("request 1 must have one hash for each 4 prompt tokens");
      executor.submit(instance.hashed(nine), 0);
      assertThatThrownBy(() -> executor.submit(instance.hashed(nine), 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("request 1 is on rank 0 already");
      assertThatThrownBy(() -> executor.submit(instance.hashed(request(2, 1, 9, 2)), 0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("rank 0 holds 1 requests already");
    }
  }

  @Test
  void refusesPartsThatDoNotFitTogether() {
    assertThatThrownBy(() -> rank(10, 4).hasher(new ChainHasher(8)).build())
        .hasMessage("hasher and pool differ in tokensPerBlock: 8, 4");
    ExecutorOptions many = ExecutorOptions.DEFAULT.withMaxActiveRequests(257);
    assertThatThrownBy(() -> rank(10, 4).options(many).build())
        .hasMessage("maxLeases must be at least maxActiveRequests, 257, not 256");
    assertThatThrownBy(() -> ExecutorOptions.DEFAULT.withTokenBudget(0))
        .hasMessage("tokenBudget must be at least 1, not 0");
    assertThatThrownBy(() -> ExecutorOptions.DEFAULT.withMaxActiveRequests(0))
        .hasMessage("maxActiveRequests must be at least 1, not 0");
  }

  @Test
  void blocksHeldBehindItsBackAreAnErrorAndNotALivelock() {
    BlockPool[] raw = new BlockPool[1];
    try (TestInstance instance = rank(10, 4).wrapper(pool -> raw[0] = pool).build()) {
      io.kvasir.engine.pool.LeaseBatch intruder = new io.kvasir.engine.pool.LeaseBatch();
      intruder.add(new int[4], new long[1], io.kvasir.model.CacheScope.NONE, 0, 8, 0);
      raw[0].lease(intruder);
      instance.submit(request(1, 100, 12, 1));
      assertThatThrownBy(instance::iterate)
          .isInstanceOf(CrowdedPoolException.class)
          .hasMessageStartingWith("rank 0 can start nothing: its pool has other users");
    }
  }

  @Test
  void decodingAllocatesNothing() {
    RequestListener deaf = new RequestListener() {};
    try (TestInstance instance = TestInstance.with(1, 2000, 16).build()) {
      RankExecutor executor =
          new RankExecutor(
              0,
              instance.pools.get(0),
              instance.hasher,
              new TimedStepEngine(StepTiming.DEFAULT),
              ExecutorOptions.DEFAULT,
              deaf);
      for (int id = 0; id < 16; id++) {
        executor.submit(instance.hashed(requestBuilder(id, id * 1000, 20, 1500).build()), 0);
      }
      runSteps(executor, 400);
      com.sun.management.ThreadMXBean threads =
          (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
      long before = threads.getCurrentThreadAllocatedBytes();
      runSteps(executor, 1000);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      assertThat(allocated).as("bytes for 16,000 tokens").isLessThan(16_000);
    }
  }

  private static void runSteps(RankExecutor executor, int steps) {
    long nowNs = 0;
    for (int step = 0; step < steps; step++) {
      nowNs += executor.beginStep(nowNs);
      executor.endStep(nowNs);
    }
  }
}
