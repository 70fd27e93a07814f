package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.replay.FirstTokens;
import io.kvasir.simulator.replay.Measures;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.ReplayProgress;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BootstrapTest {

  @Test
  void weightsAreIndependentPoissonNumbersWithMean1() {
    int draws = 200_000;
    int[] counts = new int[9];
    long products = 0;
    for (int i = 0; i < draws; i++) {
      int weight = Bootstrap.weight(i % 400, i / 400);
      counts[weight]++;
      products += (long) weight * Bootstrap.weight(i % 400, 1 + i / 400);
    }
    double mean = IntStream.range(0, counts.length).mapToLong(w -> (long) w * counts[w]).sum();
    assertThat(mean / draws).isCloseTo(1, within(0.01));
    assertThat((double) counts[0] / draws).isCloseTo(Math.exp(-1), within(0.005));
    assertThat((double) counts[3] / draws).isCloseTo(Math.exp(-1) / 6, within(0.005));
    assertThat((double) products / draws).as("neighbours").isCloseTo(1, within(0.02));
  }

  @Test
  void aReplicateIsTheP95OfTheConversationsRepeatedByTheirWeights() {
    FirstTokens tokens = played(AdpRouterKind.KV_CACHE_AWARE, 1);
    List<Double> replicates = Bootstrap.p95Ms(tokens);
    assertThat(replicates).hasSize(Bootstrap.REPLICATES);
    for (int replicate = 0; replicate < 50; replicate++) {
      List<Long> repeated = new ArrayList<>();
      for (int i = 0; i < tokens.size(); i++) {
        int weight = Bootstrap.weight(replicate, tokens.conversation(i));
        repeated.addAll(Collections.nCopies(weight, tokens.ns(i)));
      }
      Collections.sort(repeated);
      int rank = repeated.size() - (int) Math.floor(0.05 * repeated.size());
      assertThat(replicates.get(replicate)).isEqualTo(repeated.get(rank - 1) / 1e6);
    }
  }

  @Test
  void conversationsStayTogetherAndAreTheSameForAllPolicies() {
    FirstTokens one = played(AdpRouterKind.KV_CACHE_AWARE, 1);
    FirstTokens other = played(AdpRouterKind.DEFAULT, 1);
    List<Long> conversations = conversations(one);
    assertThat(conversations).hasSize(60);
    assertThat(conversations(other)).containsExactlyInAnyOrderElementsOf(conversations);
  }

  @Test
  void aPolicyAgainstItselfIs1AndTwiceAsSlowIs2() {
    List<Run> runs = List.of(run(1, 100), run(2, 120), run(3, 90));
    assertThat(Ratio.ofP95(runs, runs, 0)).isEqualTo(new Ratio(1, 1, 1));

    List<Run> twice = List.of(run(1, 200), run(2, 240), run(3, 180));
    Ratio ratio = Ratio.ofP95(twice, runs, 0);
    assertThat(ratio.mean()).isCloseTo(2, within(1e-9));
    assertThat(ratio.low()).isCloseTo(2, within(1e-9));
    assertThat(ratio.high()).isCloseTo(2, within(1e-9));
  }

  @Test
  void theIntervalIsWiderTheLessThePairsAgree() {
    List<Run> runs = List.of(run(1, 100), run(2, 100), run(3, 100));
    Ratio close = Ratio.ofP95(List.of(run(1, 110), run(2, 111), run(3, 112)), runs, 0);
    Ratio wide = Ratio.ofP95(List.of(run(1, 80), run(2, 111), run(3, 150)), runs, 0);
    assertThat(close.low()).isBetween(1.08, 1.11);
    assertThat(close.high()).isBetween(1.11, 1.14);
    assertThat(wide.high() - wide.low()).isGreaterThan(3 * (close.high() - close.low()));
    assertThat(wide.low()).isLessThan(1);
  }

  /** A run with this p95, and replicates around it that depend on the seed. */
  private static Run run(long seed, double p95) {
    return new Run(
        List.of(p95),
        IntStream.range(0, Bootstrap.REPLICATES)
            .mapToObj(i -> p95 * (1 + 0.01 * Bootstrap.weight(i, seed)))
            .toList());
  }

  private static List<Long> conversations(FirstTokens tokens) {
    return IntStream.range(0, tokens.size()).mapToObj(tokens::conversation).distinct().toList();
  }

  private static FirstTokens played(AdpRouterKind router, long seed) {
    ReplayResult result =
        Replay.run(
            GeneratedTraffic.MULTI_TURN.of(new Load.Share(1, 0.5)).requests().at(1, seed),
            new ReplaySettings(2, 200_000, 32)
                .withRouter(router)
                .withMode(ReplayMode.AGGREGATED)
                .withMeasures(new Measures(null, false, true)),
            RankPools.Place.HOST,
            ReplayProgress.SILENT);
    return Objects.requireNonNull(result.firstTokens());
  }
}
