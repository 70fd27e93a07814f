package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.StepTiming;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.fleet.router.cost.CostOptions;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Request;
import io.kvasir.simulator.compare.PrefixedPrompts.Lengths;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.selection.SelectorKind;
import io.kvasir.simulator.selection.SelectorSettings;
import io.kvasir.simulator.workload.RequestSequence;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class SelectorComparisonTest {

  private static final List<SelectorKind> ALL = List.of(SelectorKind.values());

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
  void selectorsOutOfRangeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> selection(0, 5, 100))
        .withMessage("instances must be at least 1, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> selection(1, -1, 100))
        .withMessage("eventDelayNs must be at least 0, not -1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> selection(1, 0, 0))
        .withMessage("metricIntervalNs must be at least 1, not 0");
  }

  private static SelectorSettings selection(int instances, long eventDelayNs, long intervalNs) {
    return new SelectorSettings(
        SelectorKind.PREDICTIVE,
        instances,
        eventDelayNs,
        0,
        intervalNs,
        120_000,
        2_000,
        CostOptions.DEFAULT);
  }

  private static SelectorCell compare(
      int poolTokens, Lengths lengths, int concurrency, SelectorSettings selection)
      throws InterruptedException {
    ReplaySettings each =
        new ReplaySettings(
            1,
            poolTokens,
            32,
            HashFormat.KVASIR,
            AdpRouterKind.DEFAULT,
            AttentionDpConfig.DEFAULT,
            ExecutorOptions.DEFAULT,
            WaitingQueuePolicy.FCFS,
            StepTiming.DEFAULT);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      return new SelectorComparison(
              new PrefixedPrompts(10, 2_000, 20), each, selection, List.of(1L, 2L), threads)
          .compare(lengths, 200, concurrency, ALL);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void equalSeedsGiveEqualResults() throws InterruptedException {
    SelectorSettings selection = selection(4, 5_000_000, 100_000_000);
    SelectorCell first = compare(100_000, Lengths.VARIED, 8, selection);
    assertThat(compare(100_000, Lengths.VARIED, 8, selection)).isEqualTo(first);
    assertThat(first.selectors()).extracting(Selected::selector).isEqualTo(ALL);
    assertThat(first.of(SelectorKind.ROUND_ROBIN).routedCv().mean()).isZero();
  }

  @Test
  void whoFollowsBlocksHitsMoreWherePoolsAreSmall() throws InterruptedException {
    SelectorCell cell = compare(20_000, Lengths.FIXED, 4, selection(4, 5_000_000, 100_000_000));
    double byTurns = cell.of(SelectorKind.ROUND_ROBIN).tokenHitRate().mean();
    assertThat(cell.of(SelectorKind.PREDICTIVE).tokenHitRate().mean()).isGreaterThan(byTurns);
    assertThat(cell.of(SelectorKind.POLLED).tokenHitRate().mean()).isGreaterThan(byTurns);
  }

  @Test
  void eventsThatNeverComeInTimeAreWorthNothing() throws InterruptedException {
    SelectorSettings late = selection(4, Long.MAX_VALUE / 4, 100_000_000);
    SelectorSettings soon = selection(4, 0, 100_000_000);
    double blind =
        compare(20_000, Lengths.FIXED, 4, late).of(SelectorKind.POLLED).tokenHitRate().mean();
    double seeing =
        compare(20_000, Lengths.FIXED, 4, soon).of(SelectorKind.POLLED).tokenHitRate().mean();
    assertThat(seeing).isGreaterThan(blind + 0.05);
  }
}
