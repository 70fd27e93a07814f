package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.TestInstance.request;
import static io.kvasir.engine.execute.TestInstance.requestBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of requests whose rank is lost. */
class RankLossTest {

  private static final int MS = 1_000_000;

  private final SpreadRouter router = new SpreadRouter(0);

  private static FatalDeviceException gone() {
    return new FatalDeviceException("device 0 fell off the bus", null);
  }

  private TestInstance.Setup instance(int ranks) {
    return TestInstance.with(ranks, 50, 4).router(router);
  }

  private static Request on(long id, int rank, int newTokens) {
    return requestBuilder(id, (int) id * 100, 3, newTokens).targetRank(rank).build();
  }

  private static Request strictlyOn(long id, int rank) {
    return requestBuilder(id, (int) id * 100, 3, 2).targetRank(rank).relax(false).build();
  }

  @Test
  void aReturnedRequestIsToldOfInOrderAndGoesOnAfterTheLastTokenTold() {
    try (TestInstance instance = instance(2).build()) {
      instance.submit(on(1, 0, 3));
      instance.submit(on(2, 1, 3));
      instance.iterate();
      instance.fault(0).lose(Fault.Site.STEP, 1, gone());
      assertThat(instance.iterate())
          .containsExactly("returned 1 from 0 @" + MS, "retired 0 @" + MS, "token 2/1 @" + 2 * MS);
      assertThat(instance.recorder.retired).containsEntry(0, "device 0 fell off the bus");
      assertThat(instance.loop.liveRanks()).isEqualTo(1);
      assertThat(instance.queue.size()).isEqualTo(1);
      assertThat(instance.executors.get(0).activeRequests()).isZero();
      assertThat(instance.iterate())
          .containsExactly(
              "placed 1 on 1 @" + 2 * MS,
              "resumed 1 cached 0",
              "token 2/2 @" + 3 * MS,
              "token 1/1 @" + 3 * MS,
              "finished 2 @" + 3 * MS);
      assertThat(router.lastStates).extracting(RankState::rank).containsExactly(1);
      instance.runUntilIdle();
      instance.assertEndedOnce();
    }
  }

  @Test
  void anAnswerThatIsCompleteIsFinishedAlthoughItsBlocksAreLost() {
    try (TestInstance instance = instance(2).build()) {
      instance.submit(on(1, 0, 2));
      instance.submit(on(2, 0, 9));
      instance.iterate();
      instance.fault(0).lose(Fault.Site.RELEASE, 1, gone());
      assertThat(instance.iterate())
          .containsExactly(
              "token 1/1 @" + 2 * MS,
              "token 2/1 @" + 2 * MS,
              "finished 1 @" + 2 * MS,
              "returned 2 from 0 @" + 2 * MS,
              "retired 0 @" + 2 * MS);
      instance.runUntilIdle();
      assertThat(instance.recorder.finished.get(2L)).hasSize(9);
      instance.assertEndedOnce();
    }
  }

  @ParameterizedTest
  @EnumSource
  void ranksThatAreLostTogetherReturnTheirRequestsInOrderOfArrival(WaitingQueuePolicy policy) {
    try (TestInstance instance =
        instance(3)
            .queue(policy)
            .options(ExecutorOptions.DEFAULT.withMaxActiveRequests(2))
            .build()) {
      for (int id = 1; id <= 6; id++) {
        instance.submit(on(id, (id + 1) % 3, 9));
      }
      instance.iterate();
      instance.submit(request(7, 700, 3, 9));
      instance.fault(2).lose(Fault.Site.STEP, 1, gone());
      instance.fault(0).lose(Fault.Site.STEP, 1, gone());
      instance.iterate();
      assertThat(instance.queue.toList())
          .extracting(waiting -> waiting.request().id())
          .containsExactly(1L, 2L, 4L, 5L, 7L);
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).hasSize(7);
      instance.assertEndedOnce();
    }
  }

  @Test
  void aRankFoundLostWhileStatesAreGatheredGetsNothingOfThisPlacement() {
    try (TestInstance instance = instance(2).build()) {
      instance.submit(on(1, 0, 9));
      instance.iterate();
      instance.submit(on(2, 0, 9));
      instance.fault(0).lose(Fault.Site.OCCUPANCY, 1, gone());
      assertThat(instance.iterate())
          .startsWith(
              "returned 1 from 0 @" + MS,
              "retired 0 @" + MS,
              "placed 1 on 1 @" + MS,
              "placed 2 on 1 @" + MS);
    }
  }

  @Test
  void aRequestWhoseCancellationLosesItsRankIsCancelled() {
    try (TestInstance instance = instance(2).build()) {
      instance.submit(on(1, 0, 9));
      instance.submit(on(2, 0, 9));
      instance.iterate();
      instance.loop.cancel(2);
      instance.fault(0).lose(Fault.Site.RELEASE, 1, gone());
      assertThat(instance.iterate())
          .startsWith(
              "returned 1 from 0 @" + MS,
              "returned 2 from 0 @" + MS,
              "retired 0 @" + MS,
              "cancelled 2",
              "placed 1 on 1 @" + MS);
      instance.runUntilIdle();
      instance.assertEndedOnce();
    }
  }

  @Test
  void aReturnedRequestMayBeCancelledBeforeItIsPlacedAgain() {
    try (TestInstance instance = instance(2).build()) {
      instance.submit(on(1, 0, 9));
      instance.iterate();
      instance.fault(0).lose(Fault.Site.STEP, 1, gone());
      instance.iterate();
      assertThat(instance.loop.cancel(1)).isTrue();
      assertThat(instance.iterate()).containsExactly("cancelled 1");
      assertThat(instance.loop.idle()).isTrue();
      instance.assertEndedOnce();
    }
  }

  @Test
  void withoutAnyRankRequestsWaitAndNothingRuns() {
    try (TestInstance instance = instance(2).build()) {
      instance.submit(on(1, 0, 9));
      instance.submit(on(2, 1, 9));
      instance.iterate();
      instance.fault(0).lose(Fault.Site.STEP, 1, gone());
      instance.fault(1).lose(Fault.Site.STEP, 1, gone());
      instance.iterate();
      assertThat(instance.loop.liveRanks()).isZero();
      instance.submit(request(3, 300, 3, 1));
      instance.submit(strictlyOn(4, 1));
      assertThat(instance.iterate()).containsExactly("rejected 4");
      assertThat(instance.loop.iterate(instance.nowNs)).isZero();
      assertThat(instance.loop.idle()).isFalse();
      assertThat(instance.queue.toList())
          .extracting(waiting -> waiting.request().id())
          .containsExactly(1L, 2L, 3L);
      for (int id = 1; id <= 3; id++) {
        instance.loop.cancel(id);
      }
      assertThat(instance.iterate()).containsExactly("cancelled 1", "cancelled 2", "cancelled 3");
      assertThat(instance.loop.idle()).isTrue();
      instance.assertEndedOnce();
    }
  }

  @Test
  void aRankIsRetiredByHandBeforeTheNextIteration() {
    try (TestInstance instance = instance(3).build()) {
      instance.submit(on(1, 1, 9));
      instance.submit(on(2, 2, 9));
      instance.iterate();
      assertThat(instance.loop.retire(1, "ECC errors")).isTrue();
      assertThat(instance.loop.retire(1, "again")).as("asked before").isFalse();
      assertThat(instance.loop.liveRanks()).isEqualTo(3);
      instance.faulty.get(1).take();
      assertThat(instance.iterate())
          .startsWith("returned 1 from 1 @" + MS, "retired 1 @" + MS)
          .contains("token 2/1 @" + 2 * MS);
      assertThat(instance.recorder.retired).isEqualTo(Map.of(1, "ECC errors"));
      assertThat(instance.loop.retire(1, "again")).as("retired").isFalse();
      instance.runUntilIdle();
      assertThat(instance.faulty.get(1).take()).as("calls of the lost pool").isEmpty();
      assertThat(instance.recorder.finished).containsOnlyKeys(1L, 2L);
      assertThat(instance.recorder.returned).containsExactly(1L);
      assertThat(instance.loop.liveRanks()).isEqualTo(2);
      assertThatThrownBy(() -> instance.loop.retire(3, "who?"))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(
              () -> instance.executors.get(1).submit(instance.hashed(request(5, 1, 3, 1)), 0))
          .hasMessage("rank 1 is retired");
    }
  }

  @Test
  void aRequestThatInsistsOnALostRankIsRejectedAndOneThatPrefersItIsNot() {
    try (TestInstance instance =
        instance(2).options(ExecutorOptions.DEFAULT.withMaxActiveRequests(2)).build()) {
      instance.submit(strictlyOn(1, 0));
      instance.submit(on(2, 0, 2));
      instance.iterate();
      instance.submit(strictlyOn(3, 0));
      instance.loop.retire(0, "lost");
      assertThat(instance.iterate())
          .startsWith(
              "returned 1 from 0 @" + MS,
              "returned 2 from 0 @" + MS,
              "retired 0 @" + MS,
              "rejected 1",
              "rejected 3",
              "placed 2 on 1 @" + MS);
      instance.submit(strictlyOn(4, 0));
      instance.submit(on(5, 0, 2));
      assertThat(instance.iterate()).contains("rejected 4", "placed 5 on 1 @" + 2 * MS);
      assertThat(instance.recorder.rejected)
          .containsEntry(4L, "its target rank 0 is retired: lost");
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).containsOnlyKeys(2L, 5L);
      assertThat(instance.recorder.ended).doesNotHaveDuplicates();
    }
  }

  @Test
  void aRequestWithMoreChildrenThanTheLiveRanksHoldIsRejectedAndBlocksNobody() {
    try (TestInstance instance =
        instance(2).options(ExecutorOptions.DEFAULT.withMaxActiveRequests(2)).build()) {
      instance.loop.retire(0, "lost");
      instance.submit(requestBuilder(1, 100, 3, 1).children(2).build());
      instance.submit(requestBuilder(2, 200, 3, 1).children(1).build());
      assertThat(instance.iterate()).contains("rejected 1", "placed 2 on 1 @0");
      assertThat(instance.recorder.rejected)
          .containsEntry(
              1L,
              "it and its 2 children exceed the 2 requests that the 1 live of 2 ranks may hold");
    }
  }

  @Test
  void noMoreIsPoppedThanTheLiveRanksMayHold() {
    try (TestInstance instance =
        instance(2).options(ExecutorOptions.DEFAULT.withMaxActiveRequests(2)).build()) {
      instance.loop.retire(1, "lost");
      for (int id = 1; id <= 5; id++) {
        instance.submit(request(id, id * 100, 3, 3));
      }
      instance.iterate();
      assertThat(instance.executors.get(0).activeRequests()).isEqualTo(2);
      assertThat(instance.queue.size()).isEqualTo(3);
      instance.iterate();
      assertThat(router.routed).as("full: nobody is routed").isEqualTo(1);
      instance.runUntilIdle();
      assertThat(instance.recorder.finished).hasSize(5);
    }
  }

  @Test
  void aListenerThatFailsOnALossStopsNoRequest() {
    List<String> finished = new ArrayList<>();
    RequestListener failing =
        new RequestListener() {
          @Override
          public void onReturned(Request request, int rank, String reason, long nowNs) {
            throw new IllegalArgumentException("listener failed");
          }

          @Override
          public void onFinished(Request request, int rank, int[] outputTokens, long nowNs) {
            finished.add(request.id() + " with " + outputTokens.length);
          }
        };
    try (TestInstance instance = instance(2).build()) {
      List<RankExecutor> executors = new ArrayList<>();
      for (int rank = 0; rank < 2; rank++) {
        FaultyPool pool = instance.faulty.get(rank);
        StepEngine engine = pool.engine(TestInstance.MILLISECOND_STEPS);
        executors.add(
            new RankExecutor(
                rank, pool, instance.hasher, engine, ExecutorOptions.DEFAULT, failing));
      }
      AdpLoop loop = new AdpLoop(executors, router, instance.matcher, new FcfsQueue(), failing);
      loop.submit(instance.hashed(on(1, 0, 3)));
      loop.submit(instance.hashed(on(2, 1, 3)));
      instance.fault(1).lose(Fault.Site.STEP, 2, gone());
      loop.iterate(0);
      assertThatThrownBy(() -> loop.iterate(MS)).hasMessage("listener failed");
      for (long nowNs = 2 * MS; !loop.idle(); nowNs += MS) {
        loop.iterate(nowNs);
      }
      assertThat(finished).containsExactly("1 with 3", "2 with 3");
    }
  }
}
