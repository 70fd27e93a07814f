package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.TestInstance.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What a rank does when its pool cannot hold everybody. */
class CapacityPolicyTest {

  private static final ExecutorOptions NO_EVICT = ExecutorOptions.DEFAULT;
  private static final ExecutorOptions MAX_UTILIZATION =
      NO_EVICT.withCapacityPolicy(CapacityPolicy.MAX_UTILIZATION);

  private PoolCalls calls;

  private TestInstance.Setup rank(int capacityBlocks, int tokensPerBlock, ExecutorOptions options) {
    return TestInstance.with(1, capacityBlocks, tokensPerBlock)
        .options(options)
        .wrapper(pool -> calls = new PoolCalls(pool));
  }

  @Test
  void guaranteedNoEvictStartsARequestOnlyWithThePromiseOfItsWholeOutput() {
    try (TestInstance instance = rank(10, 4, NO_EVICT).build()) {
      instance.submit(request(1, 100, 4, 17)); // 5 blocks
      instance.submit(request(2, 200, 4, 21)); // 6 blocks
      assertThat(instance.iterate())
          .contains("started 1 cached 0")
          .doesNotContain("started 2 cached 0");
      assertThat(instance.occupancy(0).activeBlocks()).isEqualTo(1);
      assertThat(instance.occupancy(0).reservedBlocks()).isEqualTo(4);
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).containsOnlyKeys(1L, 2L);
      assertThat(instance.recorder.pauses).isZero();
      instance.assertNothingHeld();
    }
  }

  @Test
  void nobodyOvertakesARefusedHead() {
    try (TestInstance instance = rank(10, 4, NO_EVICT).build()) {
      instance.submit(request(1, 100, 4, 17));
      instance.submit(request(2, 200, 4, 37)); // 10 blocks
      instance.submit(request(3, 300, 4, 1)); // 1 block
      instance.runUntilIdle();
      assertThat(instance.recorder.lines.stream().filter(line -> line.startsWith("started")))
          .containsExactly("started 1 cached 0", "started 2 cached 0", "started 3 cached 0");
      int start3 = instance.recorder.lines.indexOf("started 3 cached 0");
      assertThat(instance.recorder.lines.subList(0, start3))
          .anyMatch(l -> l.startsWith("finished 2"));
    }
  }

  @Test
  void aRefusedHeadAsksAgainOnlyWhenThePoolHasChanged() {
    try (TestInstance instance = rank(12, 4, NO_EVICT).build()) {
      instance.submit(request(1, 100, 4, 6)); // 3 blocks
      instance.submit(request(2, 200, 4, 29)); // 8 blocks
      instance.submit(request(3, 300, 4, 9)); // 3 blocks
      instance.iterate();
      instance.iterate();
      assertThat(calls.take())
          .as("refused, and once more because the prompts of the others were named")
          .containsExactly("lease 3", "commit 2", "lease 1", "extend 2");
      for (int step = 3; step <= 5; step++) {
        instance.iterate();
        assertThat(calls.take()).as("step " + step).noneMatch(call -> call.startsWith("lease"));
      }
      assertThat(instance.iterate()).anyMatch(line -> line.startsWith("finished 1"));
      assertThat(calls.take()).noneMatch(call -> call.startsWith("lease"));
      assertThat(instance.iterate()).contains("started 3 cached 0");
      assertThat(calls.take()).contains("lease 1");
    }
  }

  @Test
  void aRefusedHeadAsksAgainWhenAPrefillNamedBlocksThatItMayShare() {
    ExecutorOptions options = NO_EVICT.withTokenBudget(12);
    try (TestInstance instance = rank(9, 4, options).build()) {
      instance.submit(request(1, 100, 20, 9)); // 7 blocks, prefill in two chunks
      instance.iterate();
      instance.submit(request(2, 100, 21, 1)); // 6 blocks, at first 3 and then 5 of them shared
      assertThat(instance.iterate()).noneMatch(line -> line.startsWith("started 2"));
      assertThat(instance.iterate()).contains("started 2 cached 20");
    }
  }

  @Test
  void cancellingARefusedHeadLetsTheNextOneAsk() {
    try (TestInstance instance = rank(10, 4, NO_EVICT).build()) {
      instance.submit(request(1, 100, 4, 17));
      instance.submit(request(2, 200, 4, 37));
      instance.submit(request(3, 300, 4, 1));
      instance.iterate();
      instance.loop.cancel(2);
      assertThat(instance.iterate()).contains("cancelled 2", "started 3 cached 0");
    }
  }

  @Test
  void aHeadIsNotRefusedForWhatThoseBehindItWouldReuse() {
    try (TestInstance instance = rank(10, 4, NO_EVICT).build()) {
      instance.submit(request(1, 100, 16, 1));
      instance.runUntilIdle();
      instance.submit(request(2, 200, 4, 37)); // the whole pool
      instance.submit(request(3, 100, 16, 1)); // shares 3 cached blocks
      assertThat(instance.iterate()).contains("started 2 cached 0");
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).containsOnlyKeys(1L, 2L, 3L);
    }
  }

  @Test
  void maxUtilizationPausesTheLastStartedAndLetsTheOldestGoOn() {
    try (TestInstance instance = rank(6, 4, MAX_UTILIZATION).build()) {
      instance.submit(request(1, 100, 8, 9)); // 4 blocks in the end
      instance.submit(request(2, 200, 8, 9));
      instance.submit(request(3, 300, 4, 9));
      assertThat(instance.iterate())
          .contains("started 1 cached 0", "started 2 cached 0", "started 3 cached 0");
      List<String> second = instance.iterate();
      assertThat(second).containsSubsequence("paused 3", "token 1/1 @2000000");
      assertThat(second).as("request 2 got the last block").contains("token 2/1 @2000000");
      instance.runUntilIdle();
      assertThat(instance.recorder.lines).doesNotContain("paused 1");
      assertThat(instance.recorder.lines)
          .as("the first two blocks of request 2 are still there, that of request 3 is not")
          .containsSubsequence(
              "paused 2", "finished 1 @9000000", "resumed 2 cached 8", "resumed 3 cached 0");
      assertThat(instance.recorder.finished).containsOnlyKeys(1L, 2L, 3L);
      instance.assertNothingHeld();
    }
  }

  @Test
  void pausedRequestsComeBackInTheOrderInWhichTheyStartedAndBeforeOthers() {
    try (TestInstance instance = rank(6, 4, MAX_UTILIZATION).build()) {
      for (int id = 1; id <= 3; id++) {
        instance.submit(request(id, id * 100, 4, 17)); // 5 blocks in the end
      }
      instance.iterate();
      instance.submit(request(4, 400, 4, 1));
      instance.runUntilIdle();
      assertThat(
              instance.recorder.lines.stream()
                  .filter(line -> line.matches("(resumed|started|paused|finished) .*"))
                  .map(line -> line.replaceAll(" (cached|@).*", "")))
          .containsExactly(
              "paused 3",
              "paused 2",
              "finished 1",
              "resumed 2",
              "finished 2",
              "resumed 3",
              "started 4",
              "finished 4",
              "finished 3");
      instance.assertNothingHeld();
    }
  }

  @Test
  void aResumedRequestGoesOnWithItsOutput() {
    try (TestInstance instance = rank(6, 4, MAX_UTILIZATION).build()) {
      instance.submit(request(1, 100, 8, 5));
      instance.submit(request(2, 200, 8, 14));
      instance.runUntilIdle();
      instance.submit(request(3, 300, 4, 17));
      instance.submit(request(4, 400, 7, 14));
      instance.runUntilIdle();
      assertThat(instance.recorder.pauses).isPositive();
      assertThat(instance.recorder.streamed.get(4L)).hasSize(14);
      assertThat(instance.recorder.finished.get(4L))
          .containsExactly(
              instance.recorder.streamed.get(4L).stream().mapToInt(Integer::intValue).toArray());
    }
  }

  @Test
  void aPausedOldestPrefillWithoutBudgetDoesNotStallTheRank() {
    try (TestInstance instance =
        rank(4, 2, MAX_UTILIZATION.withTokenBudget(1).withMaxActiveRequests(4)).build()) {
      for (int id = 1; id <= 4; id++) {
        instance.submit(request(id, id * 100, 4, 4));
      }
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).containsOnlyKeys(1L, 2L, 3L, 4L);
      instance.assertNothingHeld();
    }
  }
}
