package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SightTest {

  private static final int CONVERSATIONS = 4000;
  private static final ReplayMode CONTEXT = new ReplayMode.Context(new KvTransfer(10_000, 1e8), 5);
  private static final Sight SOME = new Sight(0.3, 0.5, 0);

  private static HashedRequest request(long id, String conversation) {
    Request request = Request.builder(id, new int[] {1, 2}).conversationId(conversation).build();
    return new HashedRequest(request, new BlockHashes(new long[0], new long[0]));
  }

  @Test
  void conversationsAreHiddenAsAWholeInTheGivenShares() {
    int foreign = 0;
    int forgotten = 0;
    int both = 0;
    int[] workers = new int[4];
    for (int i = 0; i < CONVERSATIONS; i++) {
      Set<String> seen = new HashSet<>();
      for (int turn = 0; turn < 3; turn++) {
        HashedRequest request = request(3 * i + turn, "conversation-" + i);
        boolean isForeign = SOME.isForeign(request.request());
        String id = SOME.of(request).request().conversationId();
        int worker = SOME.workerOf(request.request(), workers.length);
        seen.add(isForeign + " " + id + " " + worker);
        foreign += isForeign ? 1 : 0;
        forgotten += id == null ? 1 : 0;
        both += isForeign && id == null ? 1 : 0;
        workers[worker]++;
      }
      assertThat(seen).hasSize(1);
    }
    double requests = 3.0 * CONVERSATIONS;
    assertThat(foreign / requests).isEqualTo(0.3, within(0.02));
    assertThat(forgotten / requests).isEqualTo(0.5, within(0.02));
    assertThat(both / requests).as("independent").isEqualTo(0.15, within(0.02));
    assertThat(IntStream.of(workers)).allMatch(each -> each > 0.22 * requests);
  }

  @Test
  void aRequestWithoutAConversationIsOneOfItsOwn() {
    long foreign =
        IntStream.range(0, CONVERSATIONS)
            .filter(id -> SOME.isForeign(request(id, null).request()))
            .count();
    assertThat(foreign / (double) CONVERSATIONS).isEqualTo(0.3, within(0.03));
  }

  @Test
  void nothingElseOfARequestChanges() {
    HashedRequest request = request(7, "c");
    assertThat(Sight.WHOLE.of(request)).isSameAs(request);
    assertThat(Sight.WHOLE.isForeign(request.request())).isFalse();
    HashedRequest seen = new Sight(0, 1, 0).of(request);
    assertThat(seen.request().conversationId()).isNull();
    assertThat(seen.request().id()).isEqualTo(7);
    assertThat(seen.request().tokens()).containsExactly(1, 2);
    assertThat(seen.hashes()).isSameAs(request.hashes());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Sight(1.5, 0, 0))
        .withMessageContaining("foreignLoad");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Sight(0, -1, 0))
        .withMessageContaining("forgottenIds");
  }

  private static MultiTurn sessions() {
    return new MultiTurn(
        new MultiTurn.Shape(
            60,
            new Starts.Closed(20, 0),
            300,
            new IntRange(2, 4),
            new LognormalTokens(80, 1),
            new IntRange(10, 40),
            new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 0.05, 0),
            11));
  }

  private static ReplayResult run(Sight sight, String router) {
    Measures measures = new Measures(new Objective(1e9, 1e9, 1e9), false, false);
    ReplaySettings settings =
        new ReplaySettings(1, 4000, 32).withSight(sight).withMeasures(measures);
    return Replay.run(
        sessions(),
        settings,
        FleetSettings.of(3, router),
        RankPools.Place.HOST,
        ReplayProgress.SILENT);
  }

  /** Foreign requests are served, and neither placed nor measured. */
  @ParameterizedTest
  @ValueSource(strings = {"conversation", "cost", "projected", "polled"})
  void foreignRequestsAreLoadOnly(String router) {
    ReplayResult whole = run(Sight.WHOLE, router);
    ReplayResult some = run(new Sight(0.4, 0, 0), router);
    ReplayResult all = run(new Sight(1, 0, 0), router);
    for (ReplayResult result : new ReplayResult[] {some, all}) {
      assertThat(result.requests()).isEqualTo(whole.requests());
      assertThat(result.completed()).isEqualTo(whole.completed());
      assertThat(result.outputTokens()).isEqualTo(whole.outputTokens());
    }
    long placed = placed(some);
    assertThat(placed).isBetween(whole.requests() / 3, whole.requests() - 1);
    assertThat(some.ttft().count()).isEqualTo(placed);
    assertThat(some.measuredRequests()).isEqualTo(placed);
    assertThat(some.goodShare()).hasValue(1);
    assertThat(placed(all)).isZero();
    assertThat(all.ttft().count()).isZero();
  }

  private static long placed(ReplayResult result) {
    return result.fleet().decisions().values().stream().mapToLong(Long::longValue).sum();
  }

  /** Ranks reserve what is asked for; answers are those of known lengths. */
  @ParameterizedTest
  @ValueSource(strings = {"AGGREGATED", "CONTEXT"})
  void answersEndWhereTheyWouldWhateverIsAskedFor(String mode) {
    ReplaySettings known = new ReplaySettings(2, 8000, 32);
    ReplaySettings set = mode.equals("CONTEXT") ? known.withMode(CONTEXT) : known;
    ReplayResult expected =
        Replay.run(sessions(), set, RankPools.Place.HOST, ReplayProgress.SILENT);
    ReplayResult unknown =
        Replay.run(
            sessions(),
            set.withSight(new Sight(0, 0, 3000)),
            RankPools.Place.HOST,
            ReplayProgress.SILENT);
    assertThat(unknown.outputTokens()).isEqualTo(expected.outputTokens());
    assertThat(unknown.completed()).isEqualTo(expected.completed());
    if (set == known) {
      assertThat(unknown.queue().p95Ms()).isGreaterThan(expected.queue().p95Ms());
    }
  }

  @Test
  void forgottenIdsCostAPolicyOfIdsItsHits() {
    assertThat(run(new Sight(0, 1, 0), "conversation").tokenHitRate())
        .isLessThan(run(Sight.WHOLE, "conversation").tokenHitRate() - 0.05);
    assertThat(run(new Sight(0, 1, 0), "projected").tokenHitRate())
        .isCloseTo(run(Sight.WHOLE, "projected").tokenHitRate(), within(0.03));
  }
}
