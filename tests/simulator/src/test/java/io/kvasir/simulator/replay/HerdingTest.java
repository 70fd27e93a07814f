package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.model.Request;
import io.kvasir.simulator.workload.Arrivals;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.RequestPreparation;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import io.kvasir.simulator.workload.Workload;
import io.kvasir.timing.StepTiming;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Conversations behind a long system prompt on context ranks. A warm rank is the soonest for any
 * first turn alone, but all of them there would leave the other ranks empty.
 */
class HerdingTest {

  private static final KvTransfer LINK = new KvTransfer(61 * 576 * 2, 50e9);

  /** A workload whose requests name no conversation. */
  private record Anonymous(Workload named) implements Workload {

    @Override
    public String name() {
      return named.name();
    }

    @Override
    public Map<String, Object> parameters() {
      return named.parameters();
    }

    @Override
    public long plannedRequests() {
      return named.plannedRequests();
    }

    @Override
    public Arrivals start(RequestPreparation preparation) {
      return named.start(
          (request, answeredTokens) -> {
            Request anonymous =
                Request.builder(request.id(), request.tokens())
                    .maxNewTokens(request.maxNewTokens())
                    .firstTurn(request.firstTurn())
                    .build();
            return preparation.prepare(anonymous, answeredTokens);
          });
    }
  }

  private static ReplayResult run(
      AdpRouterKind router,
      boolean named,
      int sessions,
      int rampSeconds,
      int poolTokens,
      long seed) {
    MultiTurn workload =
        new MultiTurn(
            new MultiTurn.Shape(
                sessions,
                new Starts.Closed(96, rampSeconds),
                2_000,
                new IntRange(3, 12),
                new LognormalTokens(200, 1),
                new IntRange(150, 300),
                new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 5, 1),
                seed));
    ReplaySettings settings =
        new ReplaySettings(8, poolTokens, 32)
            .withRouter(router)
            .withMode(new ReplayMode.Context(LINK, 10));
    return run(named ? workload : new Anonymous(workload), settings);
  }

  private static ReplayResult run(Workload workload, ReplaySettings settings) {
    return Replay.run(workload, settings, RankPools.Place.HOST, ReplayProgress.SILENT);
  }

  /** Evicted blocks at most as given; 0 where the pools together hold everything. */
  @ParameterizedTest
  @CsvSource({
    "true, 200, 60, 100000, 2000, 0",
    "true, 200, 60, 100000, 2000, 1",
    "true, 400, 120, 800000, 0, 0",
    "true, 400, 120, 800000, 0, 1",
    "false, 200, 60, 100000, 2000, 0",
    "false, 200, 60, 100000, 2000, 1",
    "false, 400, 120, 800000, 0, 0",
    "false, 400, 120, 800000, 0, 1"
  })
  void conversationsSpreadAlthoughOneRankIsWarm(
      boolean named, int sessions, int rampSeconds, int poolTokens, long evicted, long seed) {
    ReplayResult projected =
        run(AdpRouterKind.PROJECTED, named, sessions, rampSeconds, poolTokens, seed);
    ReplayResult conversation =
        run(AdpRouterKind.CONVERSATION, true, sessions, rampSeconds, poolTokens, seed);

    assertThat(projected.routedCv()).isLessThan(0.2);
    assertThat(projected.tokenHitRate()).isGreaterThan(conversation.tokenHitRate() - 0.002);
    assertThat(projected.sum(RankResult::evictedBlocks)).isLessThanOrEqualTo(evicted);
    assertThat(projected.ttft().p95Ms()).isLessThan(1.05 * conversation.ttft().p95Ms());
    assertThat(projected.ttft().p99Ms()).isLessThan(1.10 * conversation.ttft().p99Ms());
  }

  /**
   * Ranks of a larger model: a cold one computes the system prompt in 0.3 s, a further turn takes
   * some 20 ms. Published measurements of Llama-3-8B on one A100.
   */
  @Test
  void conversationsSpreadWherePrefillIsSlow() {
    double projectedMs = 0;
    double conversationMs = 0;
    for (long seed = 0; seed < 3; seed++) {
      ReplayResult projected = runSlowPrefill(AdpRouterKind.PROJECTED, seed);
      assertThat(projected.routedCv()).isLessThan(0.15);
      projectedMs += projected.ttft().p95Ms();
      conversationMs += runSlowPrefill(AdpRouterKind.CONVERSATION, seed).ttft().p95Ms();
    }
    assertThat(projectedMs).isLessThan(1.02 * conversationMs);
  }

  private static ReplayResult runSlowPrefill(AdpRouterKind router, long seed) {
    StepTiming timing = new StepTiming(1.7e-6, 0.0666, 5, 0, 86, 9.7, 1, 1 << 20);
    MultiTurn workload =
        new MultiTurn(
            new MultiTurn.Shape(
                200,
                new Starts.Closed(48, 60),
                4_000,
                new IntRange(3, 12),
                new LognormalTokens(200, 1),
                new IntRange(150, 300),
                new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 5, 1),
                seed));
    return run(workload, new ReplaySettings(8, 400_000, 32).withTiming(timing).withRouter(router));
  }
}
