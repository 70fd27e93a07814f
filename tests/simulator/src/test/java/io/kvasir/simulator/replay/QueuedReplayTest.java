package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.WitnessedWorkload.Call;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.Workload;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Fleet routers that let requests wait, or refuse them. Four workers get 1.3 times their load. */
class QueuedReplayTest {

  private static final int REQUESTS = 1_500;
  private static final double INF = Double.POSITIVE_INFINITY;

  private static Workload uniform() {
    return new OpenLoop(
        new SharedPrefix(
            new SharedPrefix.Shape(
                REQUESTS, 0, 0, 0, new LognormalTokens(4_000, 1), new IntRange(5, 30), 24, 7)),
        1);
  }

  private static ReplayResult run(Workload workload, double ttftMs, Map<String, Object> args) {
    ReplaySettings settings =
        new ReplaySettings(1, 2_000_000, 32)
            .withMeasures(new Measures(new Objective(ttftMs, INF, INF), false, false));
    return Replay.run(
        workload,
        settings,
        FleetSettings.of(4, "projected").withArgs(args),
        RankPools.Place.HOST,
        ReplayProgress.SILENT);
  }

  private static double good(ReplayResult result) {
    return result.goodRequests().orElseThrow() / (double) result.requests();
  }

  @Test
  void requestsThatCanBeInTimeGoFirst() {
    WitnessedWorkload workload = new WitnessedWorkload(uniform());

    ReplayResult queued = run(workload, 1_000, Map.of("router_queue_policy", "edf"));
    ReplayResult direct = run(uniform(), 1_000, Map.of());

    assertThat(queued.completed()).isEqualTo(REQUESTS);
    assertThat(good(queued)).isGreaterThan(0.85).isGreaterThan(good(direct) + 0.3);
    assertThat(workload.calls).extracting(Call::atNs).isSorted();
    ReplayResult again = run(uniform(), 1_000, Map.of("router_queue_policy", "edf"));
    assertThat(again).usingRecursiveComparison().ignoringFields("wallNs").isEqualTo(queued);
  }

  @Test
  void whatTheRouterRefusesIsRejected() {
    ReplayResult result =
        run(uniform(), INF, Map.of("router_queue_threshold", 0, "max_queued_requests", 5));

    assertThat(result.rejected()).isPositive();
    assertThat(result.completed() + result.rejected()).isEqualTo(REQUESTS);
    assertThat(result.rejections().get(0).reason()).contains("max_queued_requests");
  }
}
