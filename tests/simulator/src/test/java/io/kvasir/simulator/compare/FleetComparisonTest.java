package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.model.Request;
import io.kvasir.simulator.compare.PrefixedPrompts.Lengths;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.workload.RequestSequence;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class FleetComparisonTest {

  private static final List<String> ALL = List.of("round_robin", "cost", "approximate", "polled");

  private static List<Integer> tokens(Request request, int from, int to) {
    return Arrays.stream(request.tokens(), from, to).boxed().toList();
  }

  @Test
  void halfOfEachPromptIsOneOfTheFewPrefixes() {
    RequestSequence sequence = new PrefixedPrompts(10, 700, 20).sequence(300, Lengths.FIXED, 1);
    Set<List<Integer>> prefixes = new HashSet<>();
    Set<List<Integer>> own = new HashSet<>();
    for (int i = 0; i < sequence.size(); i++) {
      Request request = sequence.request(i);
      assertThat(request.promptTokens()).isEqualTo(700);
      assertThat(request.maxNewTokens()).isEqualTo(20);
      prefixes.add(tokens(request, 0, 350));
      own.add(tokens(request, 350, 700));
    }
    assertThat(prefixes).hasSize(10);
    assertThat(own).hasSize(300);
  }

  @Test
  void variedLengthsVaryAboutTheSameOnes() {
    RequestSequence sequence = new PrefixedPrompts(3, 700, 20).sequence(1_001, Lengths.VARIED, 1);
    int[] own = new int[sequence.size()];
    Set<Integer> outputs = new HashSet<>();
    for (int i = 0; i < sequence.size(); i++) {
      own[i] = sequence.request(i).promptTokens() - 350;
      outputs.add(sequence.request(i).maxNewTokens());
    }
    Arrays.sort(own);
    assertThat(own[500]).isBetween(300, 400);
    assertThat(own[100]).isLessThan(250);
    assertThat(own[900]).isGreaterThan(450);
    assertThat(outputs).hasSize(21).contains(10, 30);
  }

  @Test
  void promptsOutOfRangeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PrefixedPrompts(0, 700, 20))
        .withMessage("prefixes must be at least 1, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PrefixedPrompts(1, 1, 20))
        .withMessage("inputTokens must be at least 2, not 1");
  }

  @Test
  void fleetsOutOfRangeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fleet("cost", 0, 5, 100))
        .withMessage("workers must be at least 1, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fleet("cost", 1, -1, 100))
        .withMessage("eventDelayNs must be at least 0, not -1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fleet("cost", 1, 0, 0))
        .withMessage("metricIntervalNs must be at least 1, not 0");
  }

  private static FleetSettings fleet(
      String router, int workers, long eventDelayNs, long intervalNs) {
    return new FleetSettings(
        workers, FleetRouterKind.named(router), Map.of(), eventDelayNs, 0, intervalNs, List.of());
  }

  private static Cell<ClosedLoad> compare(
      int poolTokens, Lengths lengths, int concurrency, long eventDelayNs)
      throws InterruptedException {
    ReplaySettings each = new ReplaySettings(1, poolTokens, 32);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      return new FleetComparison(new PrefixedPrompts(10, 2_000, 20), each, List.of(1L, 2L), threads)
          .compare(
              new ClosedLoad(lengths, 200, concurrency),
              ALL.stream().map(name -> fleet(name, 4, eventDelayNs, 100_000_000)).toList());
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void equalSeedsGiveEqualResults() throws InterruptedException {
    Cell<ClosedLoad> first = compare(100_000, Lengths.VARIED, 8, 5_000_000);
    assertThat(compare(100_000, Lengths.VARIED, 8, 5_000_000)).isEqualTo(first);
    assertThat(first.policies()).extracting(Compared::policy).isEqualTo(ALL);
    assertThat(first.of("round_robin").mean(Measure.ROUTED_CV)).isZero();
  }

  private static double hitRate(Cell<ClosedLoad> cell, String router) {
    return cell.of(router).mean(Measure.TOKEN_HIT_RATE);
  }

  @Test
  void blockEventsRaiseTheHitRateWherePoolsAreSmall() throws InterruptedException {
    Cell<ClosedLoad> cell = compare(20_000, Lengths.FIXED, 4, 5_000_000);
    assertThat(hitRate(cell, "cost")).isGreaterThan(hitRate(cell, "round_robin"));
    assertThat(hitRate(cell, "polled")).isGreaterThan(hitRate(cell, "round_robin"));
  }

  @Test
  void eventsThatAlwaysComeTooLateAreWorthNothing() throws InterruptedException {
    double late = hitRate(compare(20_000, Lengths.FIXED, 4, Long.MAX_VALUE / 4), "polled");
    double soon = hitRate(compare(20_000, Lengths.FIXED, 4, 0), "polled");
    assertThat(soon).isGreaterThan(late + 0.05);
  }
}
