package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.TestInstance.request;
import static io.kvasir.engine.execute.TestInstance.requestBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.model.Request;
import org.junit.jupiter.api.Test;

/** Ranks that compute prompts only and send their KV away. */
class ContextRankTest {

  private static final long MS = 1_000_000;

  /** A millisecond a token. */
  private static final KvTransfer LINK = new KvTransfer(1000, 1e6);

  private final SpreadRouter router = new SpreadRouter(0);

  private TestInstance.Setup instance(int ranks, int blocks) {
    return TestInstance.with(ranks, blocks, 4)
        .router(router)
        .options(ExecutorOptions.DEFAULT.withKvTransfer(LINK));
  }

  private static Request on(long id, int rank) {
    return requestBuilder(id, (int) id * 100, 8, 1).targetRank(rank).build();
  }

  @Test
  void aRequestEndsWithItsFirstTokenAndHoldsItsBlocksUntilItsKvIsSent() {
    try (TestInstance instance = instance(1, 10).build()) {
      instance.submit(request(1, 100, 8, 1));
      assertThat(instance.iterate())
          .containsExactly("placed 1 on 0 @0", "started 1 cached 0", "token 1/0 @" + MS);
      assertThat(instance.loop.idle()).as("nothing to compute").isTrue();
      assertThat(instance.loop.nextWakeNs()).isEqualTo(9 * MS);
      assertThat(instance.occupancy(0).activeBlocks()).isEqualTo(2);

      instance.loop.endTransfers(9 * MS - 1);
      assertThat(instance.recorder.finished).isEmpty();
      assertThat(instance.loop.iterate(10 * MS)).as("nothing to run").isZero();
      assertThat(instance.recorder.take()).containsExactly("finished 1 @" + 9 * MS);
      assertThat(instance.occupancy(0).activeBlocks()).isZero();
      assertThat(instance.occupancy(0).cachedBlocks()).as("what was sent is reused").isEqualTo(2);
      assertThat(instance.loop.nextWakeNs()).isEqualTo(AdpLoop.NEVER);
      instance.assertNothingHeld();
    }
  }

  @Test
  void requestsInTransferAreLoadWhereTheMetricSaysSoAndNeverKeepTheLoopAwake() {
    try (TestInstance instance = instance(1, 10).build()) {
      instance.submit(requestBuilder(1, 100, 8, 1).children(2).build());
      instance.iterate();
      RankExecutor executor = instance.executors.get(0);
      assertThat(executor.state(LoadMetric.UNCACHED_PROMPT_TOKENS))
          .satisfies(
              state -> {
                assertThat(state.activeRequests()).isZero();
                assertThat(state.activeTokens()).isZero();
                assertThat(state.inTransferRequests()).isZero();
              });
      assertThat(executor.state(LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS))
          .satisfies(
              state -> {
                assertThat(state.activeRequests()).isEqualTo(3);
                assertThat(state.activeTokens()).isEqualTo(8);
                assertThat(state.inTransferRequests()).isEqualTo(3);
                assertThat(state.liveRequests()).isZero();
              });
      assertThat(executor.hasWork()).isFalse();
    }
  }

  @Test
  void aRankWhoseRequestsInTransferCountAgainstItsCapGetsNoMoreUntilTheyAreSent() {
    router.metric = LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS;
    try (TestInstance instance =
        instance(1, 10)
            .options(ExecutorOptions.DEFAULT.withMaxActiveRequests(1).withKvTransfer(LINK))
            .build()) {
      instance.submit(request(1, 100, 8, 1));
      instance.submit(request(2, 200, 8, 1));
      instance.iterate();
      assertThat(instance.iterate()).isEmpty();
      assertThat(instance.loop.idle()).isFalse();
      instance.nowNs = instance.loop.nextWakeNs();
      assertThat(instance.iterate())
          .startsWith("finished 1 @" + 9 * MS, "placed 2 on 0 @" + 9 * MS);
      instance.runToEnd();
      instance.assertEndedOnce();
    }
  }

  @Test
  void aPoolFullOfBlocksInTransferAdmitsNobodyUntilATransferEnds() {
    try (TestInstance instance = instance(1, 3).build()) {
      instance.submit(request(1, 100, 8, 1));
      instance.iterate();
      instance.submit(request(2, 200, 12, 1));
      instance.submit(request(3, 300, 4, 1));
      assertThat(instance.iterate()).hasSize(2).allMatch(line -> line.startsWith("placed"));
      assertThat(instance.iterate()).as("still waits").isEmpty();
      assertThat(instance.nowNs).as("waiting takes no time").isEqualTo(MS);
      instance.nowNs = instance.loop.nextWakeNs();
      assertThat(instance.iterate())
          .containsExactly("finished 1 @" + 9 * MS, "started 2 cached 0", "token 2/0 @" + 10 * MS);
      instance.runToEnd();
      assertThat(instance.recorder.finished).containsOnlyKeys(1L, 2L, 3L);
      instance.assertEndedOnce();
    }
  }

  @Test
  void whoeverWaitsAsksAgainWhenTheFirstOfSeveralTransfersEnds() {
    try (TestInstance instance = instance(1, 4).build()) {
      instance.submit(request(1, 100, 4, 1));
      instance.submit(request(2, 200, 12, 1));
      instance.iterate();
      instance.submit(request(3, 300, 4, 1));
      instance.iterate();
      instance.nowNs = instance.loop.nextWakeNs();
      assertThat(instance.nowNs).isEqualTo(5 * MS);
      assertThat(instance.iterate())
          .containsExactly("finished 1 @" + 5 * MS, "started 3 cached 0", "token 3/0 @" + 6 * MS);
      instance.runToEnd();
      instance.assertEndedOnce();
    }
  }

  @Test
  void aRankThatWaitsForATransferDoesNotHoldTheOthersUp() {
    try (TestInstance instance = instance(2, 2).build()) {
      instance.submit(on(1, 0));
      instance.iterate();
      instance.submit(on(2, 0));
      instance.submit(on(3, 1));
      assertThat(instance.iterate()).contains("token 3/0 @" + 2 * MS).doesNotContain("started 2");
      assertThat(instance.nowNs).isEqualTo(2 * MS);
      instance.runToEnd();
      assertThat(instance.recorder.finished).hasSize(3);
      instance.assertEndedOnce();
    }
  }

  @Test
  void aCancelledTransferGivesItsBlocksBackAtOnce() {
    try (TestInstance instance = instance(1, 10).build()) {
      instance.submit(request(1, 100, 8, 1));
      instance.iterate();
      assertThat(instance.loop.cancel(1)).isTrue();
      assertThat(instance.iterate()).containsExactly("cancelled 1");
      assertThat(instance.occupancy(0).activeBlocks()).isZero();
      assertThat(instance.loop.nextWakeNs()).isEqualTo(AdpLoop.NEVER);
      assertThat(instance.loop.cancel(1)).isFalse();
      instance.assertEndedOnce();
    }
  }

  @Test
  void anIdIsInFlightUntilItsKvIsSent() {
    try (TestInstance instance = instance(1, 10).build()) {
      instance.submit(request(1, 100, 8, 1));
      instance.iterate();
      assertThatThrownBy(() -> instance.submit(request(1, 100, 8, 1)))
          .hasMessage("request id 1 is in flight already");
      instance.runToEnd();
      instance.recorder.streamed.clear();
      instance.submit(request(1, 100, 8, 1));
      instance.runToEnd();
      assertThat(instance.recorder.ended).containsExactly(1L, 1L);
    }
  }

  @Test
  void whatALostRankHadNotSentIsComputedAnewElsewhere() {
    try (TestInstance instance = instance(2, 10).build()) {
      instance.recorder.startsAnew = true;
      instance.submit(on(1, 0));
      instance.iterate();
      instance.loop.retire(0, "its link is down");
      assertThat(instance.iterate())
          .containsExactly(
              "returned 1 from 0 @" + MS,
              "retired 0 @" + MS,
              "placed 1 on 1 @" + MS,
              "resumed 1 cached 0",
              "token 1/0 @" + 2 * MS);
      instance.runToEnd();
      assertThat(instance.recorder.finished.get(1L)).containsExactly(7);
      assertThat(instance.nowNs).isEqualTo(10 * MS);
    }
  }

  @Test
  void aRankThatIsLostWhenItReleasesWhatWasSentLosesNoAnswer() {
    try (TestInstance instance = instance(2, 10).build()) {
      instance.recorder.startsAnew = true;
      instance.submit(on(1, 0));
      instance.submit(requestBuilder(2, 500, 12, 1).targetRank(0).build());
      instance.iterate();
      instance.fault(0).lose(Fault.Site.RELEASE, 1, new FatalDeviceException("gone", null));
      instance.nowNs = instance.loop.nextWakeNs();
      assertThat(instance.iterate())
          .startsWith(
              "finished 1 @" + 9 * MS, "returned 2 from 0 @" + 9 * MS, "retired 0 @" + 9 * MS);
      instance.runToEnd();
      instance.assertEndedOnce();
    }
  }

  @Test
  void asksForOneTokenOnly() {
    try (TestInstance instance = instance(1, 10).build()) {
      assertThatThrownBy(() -> instance.submit(request(1, 100, 8, 2)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("maxNewTokens must be 1 on context ranks, not 2");
      assertThat(instance.loop.idle()).isTrue();
    }
    assertThatThrownBy(() -> new KvTransfer(0, 1)).hasMessageContaining("bytesPerToken");
    assertThatThrownBy(() -> new KvTransfer(1, 0)).hasMessageContaining("bytesPerSecond");
  }
}
