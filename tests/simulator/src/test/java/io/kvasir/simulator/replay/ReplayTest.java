package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.execute.CapacityPolicy;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.model.Request;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.TokenExpansion;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import io.kvasir.simulator.trace.TraceReading;
import io.kvasir.simulator.trace.TraceUnits;
import io.kvasir.simulator.workload.ClosedLoop;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import io.kvasir.simulator.workload.TraceRequests;
import io.kvasir.simulator.workload.Workload;
import io.kvasir.testing.trace.SharedTraces;
import io.kvasir.timing.StepTiming;
import java.io.IOException;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReplayTest {

  private static final TraceReading OF_FILE =
      new TraceReading(new TraceUnits(null, null), null, false);

  private static final double A = 4.209989e-7;
  private static final double B = 1.518344e-2;
  private static final double D = 16.50142;
  private static final double NS = 1e-6;

  /** Requests over one content: request i has the first {@code prompts[i]} tokens of it. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Prompts(int[] prompts, int outputTokens, long gapNs) implements RequestSequence {
    @Override
    public String name() {
      return "prompts";
    }

    @Override
    public Map<String, Object> parameters() {
      return Map.of();
    }

    @Override
    public int size() {
      return prompts.length;
    }

    @Override
    public long arrivalNs(int index) {
      return index * gapNs;
    }

    @Override
    public Request request(int index) {
      int[] tokens = new int[prompts[index]];
      TokenExpansion.fill(1, tokens, 0, tokens.length);
      return Request.builder(index, tokens).maxNewTokens(outputTokens).build();
    }
  }

  @Test
  void twoRequestsTakeTheTimesThatTheModelSays() {
    ReplayResult result = run(open(3, 10_000_000_000L, 64, 64), settings(1, 1024));

    double coldMs = A * 64 * 64 + B * 64 + D;
    double warmMs = 2 * A * 32 * (32 + 16) + B * 32 + D;
    double decodeMs = decodeMs(65);
    double nextDecodeMs = decodeMs(66);
    assertThat(result.completed()).isEqualTo(2);
    assertThat(result.ttft().meanMs()).isEqualTo((coldMs + warmMs) / 2, within(NS));
    assertThat(result.ttft().p50Ms()).isEqualTo(warmMs, within(NS));
    assertThat(result.ttft().maxMs()).isEqualTo(coldMs, within(NS));
    assertThat(result.itl().count()).isEqualTo(4);
    assertThat(result.itl().meanMs()).isEqualTo((decodeMs + nextDecodeMs) / 2, within(NS));
    assertThat(result.queue().maxMs()).isZero();
    assertThat(result.virtualSeconds())
        .isEqualTo(10 + (warmMs + decodeMs + nextDecodeMs) / 1000, within(1e-8));
    assertThat(result.outputTokens()).isEqualTo(6);
    assertThat(result.inputTokens()).isEqualTo(128);
    assertThat(result.cachedTokens()).as("the last prompt token is computed").isEqualTo(32);
    assertThat(result.upperBoundCachedTokens()).isEqualTo(32);
    assertThat(result.ranks().get(0).peakActiveBlocks()).isEqualTo(3);
    assertThat(result.ranks().get(0).busyNs() * NS)
        .isEqualTo(coldMs + warmMs + 2 * (decodeMs + nextDecodeMs), within(1e-3));
  }

  @Test
  void requestsThatArriveDuringAnIterationWaitForTheNext() {
    ReplayResult result = run(open(2, 1_000_000L, 64, 64), settings(2, 1024));

    double coldMs = A * 64 * 64 + B * 64 + D;
    assertThat(result.queue().maxMs()).isEqualTo(coldMs - 1, within(NS));
    assertThat(result.ranks()).extracting(RankResult::requests).containsExactly(1L, 1L);
    assertThat(result.decisions()).isEqualTo(Map.of(AdpReason.LOAD, 2L));
    assertThat(result.routedCv()).isZero();
  }

  @Test
  void aRequestLargerThanThePoolIsRejectedAndTheRestGoesOn() {
    ReplayResult result = run(open(2, 1_000_000L, 200, 64, 64), settings(1, 128));

    assertThat(result.requests()).isEqualTo(3);
    assertThat(result.completed()).isEqualTo(2);
    assertThat(result.rejected()).isEqualTo(1);
    assertThat(result.rejections().get(0).requestId()).isZero();
    assertThat(result.rejections().get(0).reason()).contains("201 tokens", "4 blocks");
    assertThat(result.inputTokens()).as("served prompts only").isEqualTo(128);
    assertThat(result.upperBoundCachedTokens()).isEqualTo(64);
  }

  @Test
  void aRejectedRequestDoesNotRaiseTheUpperBound() {
    ReplayResult result = run(open(2, 1_000_000_000L, 64, 64, 200), settings(1, 128));

    assertThat(result.rejected()).isEqualTo(1);
    assertThat(result.upperBoundCachedTokens())
        .as("without the 64 tokens that the rejected prompt shares")
        .isEqualTo(32);
  }

  @Test
  void aClosedLoopRunsOneAfterTheOther() {
    Workload oneByOne = new ClosedLoop(new Prompts(new int[] {64, 64, 64}, 2, 0), 1);

    ReplayResult result = run(oneByOne, settings(4, 1024));

    assertThat(result.queue().maxMs()).isZero();
    assertThat(result.completed()).isEqualTo(3);
    assertThat(result.ranks().get(0).requests()).as("the first idle rank").isEqualTo(3);
    assertThat(result.cachedTokens()).isEqualTo(64);
    assertThat(result.routedMaxOverMin()).isNaN();
  }

  @ParameterizedTest
  @EnumSource(AdpRouterKind.class)
  void aReplayIsTheSameEachTime(AdpRouterKind router) {
    ReplaySettings settings = settings(3, 20_000).withRouter(router);

    ReplayResult first = run(sessions(12), settings);
    ReplayResult second = run(sessions(12), settings);

    assertThat(second).usingRecursiveComparison().ignoringFields("wallNs").isEqualTo(first);
    assertThat(first.completed()).isEqualTo(sessions(12).plannedRequests());
    assertThat(first.tokenHitRate())
        .isPositive()
        .isLessThanOrEqualTo(first.upperBoundTokenHitRate());
  }

  @Test
  void oneSessionAtATimeOnOneLargeRankReachesTheUpperBound() {
    MultiTurn oneByOne = sessions(9, 1);

    ReplayResult result = run(oneByOne, settings(1, 1_000_000));

    assertThat(result.cachedTokens()).isEqualTo(result.upperBoundCachedTokens()).isPositive();
  }

  @Test
  void pausesAreCounted() {
    ReplaySettings tight =
        new ReplaySettings(1, 640, 32)
            .withExecutor(
                ExecutorOptions.DEFAULT.withCapacityPolicy(CapacityPolicy.MAX_UTILIZATION));

    ReplayResult result = run(open(300, 0, 30, 31, 32, 33), tight);

    assertThat(result.completed()).isEqualTo(4);
    assertThat(result.outputTokens()).isEqualTo(1200);
    assertThat(result.sum(RankResult::preemptions)).isPositive();
    assertThat(result.inputTokens()).as("counted once, pauses or not").isEqualTo(126);
  }

  @Test
  void aRankThatIsLostOnTheWayChangesNoAnswerAndIsCountedOnce() {
    ReplaySettings settings = settings(2, 20_000);
    ReplayResult undisturbed = run(sessions(12), settings);

    ReplayResult result =
        Replay.run(
            sessions(12),
            settings,
            RankPools.Place.HOST,
            losingRanks(40, 40),
            ReplayProgress.SILENT);

    assertThat(result.completed()).isEqualTo(undisturbed.completed());
    assertThat(result.outputTokens()).isEqualTo(undisturbed.outputTokens());
    assertThat(result.inputTokens()).isEqualTo(undisturbed.inputTokens());
    assertThat(result.queue().count()).isEqualTo(result.completed());
    assertThat(result.sum(RankResult::requests)).isGreaterThan(result.completed());
  }

  @Test
  void aReplayWhoseRanksAreAllLostEndsWithAnError() {
    Workload workload = open(3, 1_000_000_000L, 64, 64, 64, 64, 64);

    assertThatThrownBy(
            () ->
                Replay.run(
                    workload,
                    settings(2, 1024),
                    RankPools.Place.HOST,
                    losingRanks(4, 5),
                    ReplayProgress.SILENT))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "all ranks are retired; the replay ends with 1 of 2 requests answered or rejected");
  }

  /** The steps numbered {@code first} to {@code last}, on any rank, fail and retire their rank. */
  static IntFunction<StepEngine> losingRanks(int first, int last) {
    StepEngine engine = new TimedStepEngine(StepTiming.DEFAULT);
    int[] steps = {0};
    StepEngine losing =
        plan -> {
          steps[0]++;
          if (steps[0] >= first && steps[0] <= last) {
            throw new FatalDeviceException("step " + steps[0], null);
          }
          return engine.step(plan);
        };
    return rank -> losing;
  }

  @Test
  void theSyntheticTraceIsServedWithinItsBound() throws IOException {
    Trace trace = TraceReader.read(SharedTraces.require("synthetic_trace.jsonl.xz"), OF_FILE);
    Workload workload = new OpenLoop(new TraceRequests(trace, Conversations.infer(trace)), 1);

    ReplayResult result =
        run(workload, settings(8, 1_000_000).withRouter(AdpRouterKind.KV_CACHE_AWARE));

    assertThat(result.completed()).isEqualTo(3_993);
    assertThat(result.upperBoundTokenHitRate()).isEqualTo(0.6512, within(0.00005));
    assertThat(result.tokenHitRate()).isBetween(0.4, 0.6512);
    assertThat(result.routedCv()).isLessThan(0.15);
  }

  private static Workload open(int outputTokens, long gapNs, int... prompts) {
    return new OpenLoop(new Prompts(prompts, outputTokens, gapNs), 1);
  }

  private static MultiTurn sessions(int count) {
    return sessions(count, 5);
  }

  private static MultiTurn sessions(int count, int concurrency) {
    return new MultiTurn(
        new MultiTurn.Shape(
            count,
            new Starts.Closed(concurrency, 0),
            300,
            new IntRange(2, 4),
            new LognormalTokens(60, 1),
            new IntRange(10, 40),
            new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 1, 1),
            11));
  }

  private static ReplaySettings settings(int ranks, int poolTokens) {
    return new ReplaySettings(ranks, poolTokens, 32);
  }

  private static double decodeMs(int kvTokens) {
    double p = kvTokens / 1_048_576.0;
    return -25.74 * p * p + 54.01 * p + 5.74;
  }

  private static ReplayResult run(Workload workload, ReplaySettings settings) {
    return Replay.run(workload, settings, RankPools.Place.HOST, ReplayProgress.SILENT);
  }
}
