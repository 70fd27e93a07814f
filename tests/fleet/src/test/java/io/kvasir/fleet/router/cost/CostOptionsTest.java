package io.kvasir.fleet.router.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.booking.BusyThresholds;
import io.kvasir.fleet.router.booking.QueueOptions;
import io.kvasir.fleet.router.booking.QueuePolicy;
import io.kvasir.fleet.router.booking.RouterFixture;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class CostOptionsTest {

  @Test
  void defaultsAreThoseOfDynamo() {
    assertThat(CostOptions.DEFAULT).isEqualTo(new CostOptions(1.0, 0.0, 1.0, 0.0, 0.0, true));
    assertThat(QueueOptions.OFF.queueThreshold()).isNull();
    assertThat(QueueOptions.OFF.queuePolicy()).isEqualTo(QueuePolicy.FCFS);
    assertThat(QueueOptions.OFF.matchRefreshAfterNs()).isEqualTo(10_000_000_000L);
  }

  @Test
  void theOlderWeightScalesPrefillAnd0DropsTheCredit() {
    assertThat(CostOptions.DEFAULT.withOverlapScoreWeight(2))
        .isEqualTo(CostOptions.DEFAULT.withPrefillLoadScale(2));
    assertThat(CostOptions.DEFAULT.withOverlapScoreWeight(0))
        .isEqualTo(CostOptions.DEFAULT.withPrefillLoadScale(0).withOverlapScoreCredit(0));
  }

  @Test
  void refusesWhatIsOutOfRangeByName() {
    refuses(
        () -> CostOptions.DEFAULT.withOverlapScoreCredit(-1),
        "overlapScoreCredit must be finite and at least 0, not -1.0");
    refuses(
        () -> CostOptions.DEFAULT.withOverlapScoreCreditDecay(Double.NaN),
        "overlapScoreCreditDecay must be finite and at least 0, not NaN");
    refuses(
        () -> CostOptions.DEFAULT.withTemperature(Double.POSITIVE_INFINITY),
        "temperature must be finite and at least 0, not Infinity");
    refuses(
        () -> CostOptions.DEFAULT.withOverlapScoreWeight(-0.5),
        "overlapScoreWeight must be finite and at least 0, not -0.5");
    refuses(
        () -> new CostOverrides(null, null, -1.0, null, null),
        "temperature must be finite and at least 0, not -1.0");
    refuses(
        () -> new BusyThresholds(1.01, null, null),
        "activeDecodeBlocksThreshold must be within 0 to 1, not 1.01");
    refuses(
        () -> new BusyThresholds(null, -1L, null),
        "activePrefillTokensThreshold must be at least 0, not -1");
    refuses(
        () -> new BusyThresholds(null, null, -1.0),
        "activePrefillTokensThresholdFrac must be finite and at least 0, not -1.0");
    refuses(
        () -> QueueOptions.of(-1.0, QueuePolicy.WSPT),
        "queueThreshold must be finite and at least 0, not -1.0");
    refuses(
        () -> new QueueOptions(1.0, QueuePolicy.WSPT, 0, 1, 0),
        "maxQueuedRequests must be at least 1, not 0");
    refuses(
        () -> new QueueOptions(1.0, QueuePolicy.WSPT, 1, 0, 0),
        "maxQueuedTokens must be at least 1, not 0");
    refuses(
        () -> QueuePolicy.named("lifo"), "queuePolicy must be one of fcfs, wspt, edf, not 'lifo'");
    refuses(() -> new RankCapacity(-1, 0), "totalKvBlocks must be at least 0, not -1");
    refuses(() -> new RankCapacity(0, -1), "maxNumBatchedTokens must be at least 0, not -1");
  }

  @Test
  void refusesARequestThatMakesNoSense() {
    refuses(
        () -> RouterFixture.request(1, 9).expectedOutputTokens(-1).build(),
        "expectedOutputTokens must be at least 0, not -1");
    refuses(
        () -> RouterFixture.request(1, 9).priorityJump(-1).build(),
        "priorityJump must be finite and at least 0, not -1.0");
    refuses(
        () -> new RankFilter(null, Set.of(), null, 0),
        "pinnedRank must be at least 0 and come with pinnedWorker, not 0 of worker null");
  }

  private static void refuses(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
  }
}
