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
  private static Workload uniform(int requests, IntRange answers, double perSecond, long seed) {
    return new OpenLoop(
        new SharedPrefix(
            new SharedPrefix.Shape(
                requests, 0, 0, 0, new LognormalTokens(2_000, 1), answers, perSecond, seed)),
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
    Sums projected = new Sums();
    Sums cost = new Sums();
    for (long seed = 0; seed < 3; seed++) {
      Workload workload = uniform(2_400, new IntRange(20, 60), 20, seed);
      projected.add(run("projected", workload, hanging).ttft());
      cost.add(run("cost", workload, hanging).ttft());
    }
    assertThat(projected.p95Ms).isLessThan(cost.p95Ms);
    assertThat(projected.p99Ms).isLessThan(cost.p99Ms);
    assertThat(projected.meanMs).isLessThan(0.9 * cost.meanMs);
  }

  /** A pool holds some five answers, which the engine reserves, and each takes a minute. */
  @Test
  void requestsDoNotWaitBehindLongAnswersThatAreReserved() {
    ReplaySettings settings = new ReplaySettings(1, 65_536, 32);
    Workload workload = uniform(300, new IntRange(8_000, 12_000), 0.3, 1);

    double projectedMs = run("projected", workload, settings).ttft().p99Ms();
    double conversationMs = run("conversation", workload, settings).ttft().p99Ms();
    double costMs = run("cost", workload, settings).ttft().p99Ms();

    assertThat(projectedMs).isLessThan(1.2 * Math.min(conversationMs, costMs));
  }

  /** Times to first token of several replays. */
  private static final class Sums {

    private double p95Ms;
    private double p99Ms;
    private double meanMs;

    void add(DurationSummary ttft) {
      p95Ms += ttft.p95Ms();
      p99Ms += ttft.p99Ms();
      meanMs += ttft.meanMs();
    }
  }
}
