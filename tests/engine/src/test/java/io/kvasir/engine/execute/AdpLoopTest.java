package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.TestInstance.request;
import static io.kvasir.engine.execute.TestInstance.requestBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.adp.RankState;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdpLoopTest {

  private static final int MS = 1_000_000;

  private final SpreadRouter router = new SpreadRouter(0);

  private TestInstance.Setup instance(int ranks) {
    return TestInstance.with(ranks, 50, 4).router(router);
  }

  private static Request onRank(long id, int rank, int promptTokens, int newTokens) {
    return requestBuilder(id, (int) id * 1000, promptTokens, newTokens).targetRank(rank).build();
  }

  @Test
  void anIterationLastsAsLongAsTheSlowestRankAndAllResultsComeAtItsEnd() {
    List<StepEngine> engines = new ArrayList<>();
    try (TestInstance instance =
        instance(3)
            .engines(
                pool -> {
                  int ms = 1 + engines.size();
                  engines.add(new TimedStepEngine(new StepTiming(0, 0, ms, 0, 0, ms, 0, 1)));
                  return engines.get(engines.size() - 1);
                })
            .build()) {
      instance.submit(onRank(1, 0, 5, 2));
      instance.submit(onRank(2, 1, 5, 1));
      assertThat(instance.iterate())
          .containsExactly(
              "placed 1 on 0 @0",
              "placed 2 on 1 @0",
              "started 1 cached 0",
              "started 2 cached 0",
              "token 1/0 @" + 2 * MS,
              "token 2/0 @" + 2 * MS,
              "finished 2 @" + 2 * MS);
      assertThat(instance.iterate())
          .as("only rank 0 still works")
          .containsExactly("token 1/1 @" + 3 * MS, "finished 1 @" + 3 * MS);
      assertThat(instance.loop.idle()).isTrue();
      assertThat(instance.loop.iterate(instance.nowNs)).isZero();
    }
  }

  @Test
  void theRouterSeesStatesWithOccupancyAndMatchesWithoutTheLastToken() {
    try (TestInstance instance = instance(2).build()) {
      instance.submit(onRank(1, 1, 12, 1));
      instance.runUntilIdle();
      instance.submit(requestBuilder(2, 1000, 12, 3).targetRank(0).build());
      instance.iterate();
      assertThat(router.lastMatches.tokens(0, 0)).isZero();
      assertThat(router.lastMatches.tokens(1, 0)).isEqualTo(8);
      instance.submit(requestBuilder(3, 1000, 13, 1).build());
      instance.iterate();
      assertThat(router.lastMatches.tokens(0, 0)).isEqualTo(12);
      assertThat(router.lastStates).extracting(RankState::rank).containsExactly(0, 1);
      assertThat(router.lastStates).extracting(RankState::activeRequests).containsExactly(1, 0);
      assertThat(router.lastStates).extracting(RankState::activeTokens).containsExactly(12L, 0L);
      assertThat(router.lastStates.get(0).occupancy().activeBlocks()).isEqualTo(3);
      assertThat(router.lastStates.get(1).occupancy().cachedBlocks()).isEqualTo(3);
    }
  }

  @Test
  void withoutReuseNothingIsMatched() {
    try (TestInstance instance =
        instance(1).options(ExecutorOptions.DEFAULT.withBlockReuse(false)).build()) {
      instance.submit(request(1, 100, 12, 1));
      instance.iterate();
      assertThat(router.lastMatches).isSameAs(io.kvasir.engine.pool.PrefixMatches.NONE);
    }
  }

  @Test
  void noMoreIsPoppedThanTheRanksMayHoldAndNothingIsRoutedThen() {
    try (TestInstance instance =
        instance(2).options(ExecutorOptions.DEFAULT.withMaxActiveRequests(2)).build()) {
      for (int id = 1; id <= 5; id++) {
        instance.submit(request(id, id * 100, 3, 2));
      }
      instance.iterate();
      assertThat(instance.executors).extracting(RankExecutor::activeRequests).containsOnly(2);
      assertThat(instance.recorder.streamed).hasSize(4);
      instance.iterate();
      assertThat(router.routed).isEqualTo(1);
      instance.iterate();
      assertThat(router.routed).isEqualTo(2);
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).hasSize(5);
    }
  }

  @Test
  void whatTheRouterDoesNotPlaceGoesBackToTheFront() {
    try (TestInstance instance =
        instance(1).options(ExecutorOptions.DEFAULT.withMaxActiveRequests(3)).build()) {
      router.refusedId = 2;
      instance.submit(request(1, 100, 3, 3));
      instance.submit(request(2, 200, 3, 3));
      instance.submit(request(3, 300, 3, 3));
      instance.submit(request(4, 400, 3, 3));
      assertThat(instance.iterate()).contains("placed 1 on 0 @0", "placed 3 on 0 @0");
      router.refusedId = -1;
      assertThat(instance.iterate())
          .startsWith("placed 2 on 0 @" + MS)
          .noneMatch(line -> line.startsWith("placed 4"));
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).hasSize(4);
    }
  }

  @Test
  void aRouterThatPlacesNothingOnIdleRanksIsAnErrorAndNotALivelock() {
    try (TestInstance instance = instance(2).build()) {
      router.refusedId = 1;
      instance.submit(request(1, 100, 3, 3));
      assertThatThrownBy(instance::iterate)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the router spread places none of 1 requests on idle ranks");
      router.refusedId = -1;
      assertThat(instance.iterate())
          .as("the request is still there")
          .contains("started 1 cached 0");
    }
  }

  @Test
  void aRouterThatFailsLosesNoRequest() {
    try (TestInstance instance = instance(1).build()) {
      instance.submit(request(1, 100, 3, 2));
      instance.submit(request(2, 200, 3, 2));
      router.failure = new IllegalStateException("out of order");
      assertThatThrownBy(instance::iterate).hasMessage("out of order");
      assertThat(instance.loop.idle()).isFalse();
      router.failure = null;
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).hasSize(2);
    }
  }

  @Test
  void aStrictRequestWaitsForItsRankAndOthersPass() {
    try (TestInstance instance =
        instance(2).options(ExecutorOptions.DEFAULT.withMaxActiveRequests(1)).build()) {
      instance.submit(onRank(1, 0, 3, 3));
      instance.iterate();
      instance.submit(requestBuilder(2, 200, 3, 1).targetRank(0).relax(false).build());
      instance.submit(request(3, 300, 3, 1));
      assertThat(instance.iterate()).contains("placed 3 on 1 @" + MS);
      instance.runUntilIdle();
      assertThat(instance.recorder.lines).contains("placed 2 on 0 @" + 3 * MS);
    }
  }

  @Test
  void requestsAreCancelledWaitingAndRunningAtTheNextIteration() {
    try (TestInstance instance =
        instance(1).options(ExecutorOptions.DEFAULT.withMaxActiveRequests(1)).build()) {
      instance.submit(request(1, 100, 3, 30));
      instance.submit(request(2, 200, 3, 30));
      instance.iterate();
      assertThat(instance.loop.cancel(1)).isTrue();
      assertThat(instance.loop.cancel(1)).as("asked before").isFalse();
      assertThat(instance.loop.cancel(2)).isTrue();
      assertThat(instance.loop.cancel(3)).as("unknown").isFalse();
      assertThat(instance.recorder.cancelled).isEmpty();
      assertThat(instance.iterate()).containsExactly("cancelled 1", "cancelled 2");
      assertThat(instance.loop.idle()).isTrue();
      instance.assertNothingHeld();
    }
  }

  @Test
  void anIdThatEndedBeforeItsCancellationMayBeUsedAgain() {
    try (TestInstance instance = instance(1).build()) {
      instance.submit(request(1, 100, 3, 2));
      instance.iterate();
      instance.loop.cancel(1);
      RankExecutor executor = instance.executors.get(0);
      executor.endStep(executor.beginStep(instance.nowNs));
      instance.recorder.streamed.clear();
      instance.submit(request(1, 100, 3, 2));
      instance.runUntilIdle();
      assertThat(instance.recorder.cancelled).isEmpty();
    }
  }

  @Test
  void aListenerMaySubmitAndCancelDuringAnIteration() {
    List<AdpLoop> loops = new ArrayList<>();
    try (TestInstance instance = instance(1).build()) {
      Recorder heard = new Recorder();
      RequestListener busy =
          new RequestListener() {
            @Override
            public void onToken(Request request, int rank, int index, int token, long nowNs) {
              if (request.id() == 1 && index == 1) {
                loops.get(0).cancel(1);
                loops.get(0).submit(instance.hashed(TestInstance.request(2, 200, 3, 1)));
              }
            }

            @Override
            public void onFinished(Request request, int rank, int[] outputTokens, long nowNs) {
              heard.onFinished(request, rank, outputTokens, nowNs);
            }

            @Override
            public void onCancelled(Request request, long nowNs) {
              heard.onCancelled(request, nowNs);
            }
          };
      RankExecutor executor =
          new RankExecutor(
              0,
              instance.pools.get(0),
              instance.hasher,
              TestInstance.MILLISECOND_STEPS,
              ExecutorOptions.DEFAULT,
              busy);
      AdpLoop loop =
          new AdpLoop(List.of(executor), router, instance.matcher, new FcfsQueue(), busy);
      loops.add(loop);
      loop.submit(instance.hashed(request(1, 100, 3, 9)));
      long nowNs = 0;
      while (!loop.idle()) {
        nowNs += loop.iterate(nowNs);
      }
      assertThat(heard.cancelled).containsExactly(1L);
      assertThat(heard.finished).containsOnlyKeys(2L);
    }
  }

  @Test
  void aRejectedRequestLeavesTheLoopIdle() {
    try (TestInstance instance = instance(2).build()) {
      instance.submit(request(1, 100, 300, 1));
      assertThat(instance.iterate()).contains("rejected 1");
      assertThat(instance.nowNs).isZero();
      assertThat(instance.loop.idle()).isTrue();
      instance.submit(request(1, 100, 3, 1));
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).containsOnlyKeys(1L);
    }
  }

  @Test
  void refusesRequestsThatCanNeverBePlaced() {
    try (TestInstance instance =
        instance(2).options(ExecutorOptions.DEFAULT.withMaxActiveRequests(2)).build()) {
      assertThatThrownBy(() -> instance.submit(onRank(1, 2, 3, 1)))
          .hasMessage("targetRank must be 0 to 1, not 2");
      assertThatThrownBy(() -> instance.submit(requestBuilder(1, 0, 3, 1).children(4).build()))
          .hasMessage("children must be less than 4, the requests that the worker may hold, not 4");
      HashedRequest unhashed =
          new HashedRequest(request(1, 0, 50, 1), new BlockHashes(new long[0], new long[0]));
      assertThatThrownBy(() -> instance.loop.submit(unhashed))
          .hasMessage("request 1 must have one hash for each 4 prompt tokens");
      assertThat(instance.loop.idle()).isTrue();
      instance.submit(request(1, 100, 3, 3));
      assertThatThrownBy(() -> instance.submit(request(1, 100, 3, 1)))
          .as("waiting")
          .hasMessage("request id 1 is in flight already");
      instance.iterate();
      assertThatThrownBy(() -> instance.submit(request(1, 100, 3, 1)))
          .as("running")
          .hasMessage("request id 1 is in flight already");
    }
  }

  @Test
  void refusesExecutorsThatDoNotFormAnInstance() {
    try (TestInstance instance = instance(2).build()) {
      RankExecutor zero = instance.executors.get(0);
      RankExecutor one = instance.executors.get(1);
      assertThatThrownBy(() -> loop(instance, List.of()))
          .hasMessage("a worker needs executors and an empty queue");
      assertThatThrownBy(() -> loop(instance, List.of(one, zero)))
          .hasMessage("executor 0 must have rank 0, not 1");
      RankExecutor other =
          new RankExecutor(
              1,
              instance.pools.get(1),
              instance.hasher,
              TestInstance.MILLISECOND_STEPS,
              ExecutorOptions.DEFAULT.withMaxActiveRequests(3),
              instance.recorder);
      assertThatThrownBy(() -> loop(instance, List.of(zero, other)))
          .hasMessage(
              "the executors of ranks 0 and 1 differ in maxActiveRequests, enableBlockReuse,"
                  + " kvTransfer or tokensPerBlock");
    }
  }

  private AdpLoop loop(TestInstance instance, List<RankExecutor> executors) {
    return new AdpLoop(executors, router, instance.matcher, new FcfsQueue(), instance.recorder);
  }
}
