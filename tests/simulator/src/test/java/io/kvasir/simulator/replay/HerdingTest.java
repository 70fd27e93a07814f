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
import java.util.Map;
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
    return Replay.run(
        named ? workload : new Anonymous(workload),
        settings,
        RankPools.Place.HOST,
        ReplayProgress.SILENT);
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
}
