package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.model.Request;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.workload.ClosedLoop;
import io.kvasir.simulator.workload.RequestSequence;
import io.kvasir.testing.harness.LongRuns;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Fleet routers in closed loops of prompts with shared prefixes. */
class ClosedLoopTest {

  private static final List<Long> SEEDS = LongRuns.cases(List.of(1L), List.of(2L));
  private static final List<String> ALL = List.of("round_robin", "cost", "approximate", "polled");

  private static RequestSequence sequence(GeneratedTraffic traffic) {
    Load load = new Load.InFlight(1, 4);
    return ((ClosedLoop) traffic.of(load).requests().at(1, 1)).sequence();
  }

  private static List<Integer> tokens(Request request, int from, int to) {
    return Arrays.stream(request.tokens(), from, to).boxed().toList();
  }

  @Test
  void halfOfEachPromptIsOneOfTheFewPrefixes() {
    RequestSequence sequence = sequence(GeneratedTraffic.CLOSED_LOOP);
    assertThat(sequence.size()).isEqualTo(250);
    Set<List<Integer>> prefixes = new HashSet<>();
    Set<List<Integer>> own = new HashSet<>();
    for (int i = 0; i < sequence.size(); i++) {
      Request request = sequence.request(i);
      assertThat(request.promptTokens()).isEqualTo(7_000);
      assertThat(request.maxNewTokens()).isEqualTo(200);
      prefixes.add(tokens(request, 0, 3_500));
      own.add(tokens(request, 3_500, 7_000));
    }
    assertThat(prefixes).hasSize(10);
    assertThat(own).hasSize(250);
  }

  @Test
  void variedLengthsVaryAboutTheSameOnes() {
    RequestSequence sequence = sequence(GeneratedTraffic.CLOSED_LOOP_VARIED);
    int[] own = new int[sequence.size()];
    Set<Integer> outputs = new HashSet<>();
    for (int i = 0; i < sequence.size(); i++) {
      own[i] = sequence.request(i).promptTokens() - 3_500;
      outputs.add(sequence.request(i).maxNewTokens());
    }
    Arrays.sort(own);
    assertThat(own[125]).isBetween(2_900, 4_100);
    assertThat(own[25]).isLessThan(2_500);
    assertThat(own[225]).isGreaterThan(4_500);
    assertThat(outputs).allMatch(tokens -> tokens >= 100 && tokens <= 300).hasSizeGreaterThan(80);
  }

  @Test
  void loadsOutOfRangeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Load.InFlight(1, 0))
        .withMessage("requests must be at least 1, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Load.Share(0, 0.5))
        .withMessage("ranks must be at least 1, not 0");
  }

  private static Cell<PlayedLoad> compare(int poolTokens, int inFlight)
      throws InterruptedException {
    Load load = new Load.InFlight(4, inFlight);
    Map<String, Map<String, Object>> routers = new LinkedHashMap<>();
    ALL.forEach(name -> routers.put(name, Map.of()));
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      return new RouterComparison(SEEDS, threads, RunStore.NONE, 1)
          .compareFleets(
              new Setting(
                  GeneratedTraffic.CLOSED_LOOP_VARIED.of(load),
                  ReplayMode.AGGREGATED,
                  load,
                  poolTokens),
              routers);
    } finally {
      threads.shutdownNow();
    }
  }

  private static double hitRate(Cell<?> cell, String router) {
    return cell.of(router).mean(Measure.TOKEN_HIT_RATE);
  }

  @Test
  void blockEventsRaiseTheHitRateWherePoolsAreSmall() throws InterruptedException {
    Cell<PlayedLoad> cell = compare(40_000, 4);
    assertThat(cell.policies()).extracting(Compared::policy).isEqualTo(ALL);
    assertThat(cell.load().speed()).isEqualTo(1);
    assertThat(cell.saturated()).as("a closed loop has no other speed").isFalse();
    assertThat(hitRate(cell, "cost")).isGreaterThan(hitRate(cell, "round_robin"));
    assertThat(hitRate(cell, "polled")).isGreaterThan(hitRate(cell, "round_robin"));
    assertThat(cell.of("round_robin").mean(Measure.ROUTED_CV)).isZero();
    assertThat(cell.of("polled").mean(Measure.BEHIND_PROMPTS)).isPositive();
    assertThat(compare(40_000, 4).policies()).isEqualTo(cell.policies());
  }

  @Test
  void aPoolThatHoldsNoRequestIsNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> compare(1_024, 4))
        .withMessage("closed_loop_varied: no request fits into a pool of 1024 tokens");
  }
}
