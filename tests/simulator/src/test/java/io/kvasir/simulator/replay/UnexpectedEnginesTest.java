package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.EngineDelays.Fault;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.Workload;
import io.kvasir.timing.StepTiming;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Fleets whose engines are not what {@code projected} expects of engines. */
class UnexpectedEnginesTest {

  private static final int WORKERS = 8;

  /** Prompts that share nothing. */
  private static Workload uniform(int requests, IntRange answers, double perSecond) {
    return new OpenLoop(
        new SharedPrefix(
            new SharedPrefix.Shape(
                requests, 0, 0, 0, new LognormalTokens(2_000, 1), answers, perSecond, 1)),
        1);
  }

  private static ReplayResult run(String router, Workload workload, ReplaySettings settings) {
    return Replay.run(
        workload,
        settings,
        FleetSettings.of(WORKERS, router),
        RankPools.Place.HOST,
        ReplayProgress.SILENT);
  }

  @Test
  void anEngineThatHangsGetsNoMoreRequests() {
    ReplaySettings settings = new ReplaySettings(1, 1_000_000, 32);
    Fault hang = new Fault(0, Double.POSITIVE_INFINITY, 20, 40, 60);
    Fault other = new Fault(1, Double.POSITIVE_INFINITY, 20, 40, 60);
    ReplaySettings hanging =
        settings.withEngines(
            new ReplaySettings.Engines(StepTiming.DEFAULT, new EngineDelays(List.of(hang, other))));
    Workload workload = uniform(2_400, new IntRange(20, 60), 20);

    ReplayResult projected = run("projected", workload, hanging);
    ReplayResult cost = run("cost", workload, hanging);

    assertThat(projected.ttft().p95Ms()).isLessThan(cost.ttft().p95Ms());
    assertThat(projected.ttft().p99Ms()).isLessThan(cost.ttft().p99Ms());
  }
}
