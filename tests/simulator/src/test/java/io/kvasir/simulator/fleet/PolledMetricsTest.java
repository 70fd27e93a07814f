package io.kvasir.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.EngineMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PolledMetricsTest {

  private final List<EngineMetrics> answers = new ArrayList<>();

  private static EngineMetrics metrics(int activeBlocks) {
    return new EngineMetrics(activeBlocks, 100, activeBlocks / 10);
  }

  private List<EngineMetrics> answers(PolledMetrics polled, long nowNs) {
    answers.clear();
    polled.answer(nowNs, (worker, metrics) -> answers.add(metrics));
    return answers;
  }

  @Test
  void metricsArriveWithTheAnswerOfTheNextPoll() {
    PolledMetrics polled = new PolledMetrics(1, 100, 30);
    polled.publish(0, metrics(50), 101);
    assertThat(answers(polled, 29)).as("the first poll is under way").isEmpty();
    assertThat(answers(polled, 130)).as("polled too early").containsExactly(EngineMetrics.NONE);
    assertThat(answers(polled, 229)).as("the answer to 200 is on its way").isEmpty();
    assertThat(answers(polled, 230)).containsExactly(metrics(50));
    assertThat(answers(polled, 1_000)).as("polled again").containsExactly(metrics(50));
  }

  @Test
  void anAnswerHasTheMetricsOfAllWorkers() {
    PolledMetrics polled = new PolledMetrics(3, 100, 0);
    polled.publish(1, metrics(20), 5);
    assertThat(answers(polled, 100))
        .containsExactly(EngineMetrics.NONE, metrics(20), EngineMetrics.NONE);
  }

  @Test
  void everyPollFindsTheNewestMetricsOfItsTime() {
    long seed = Long.getLong("kvasir.test.seed", 20);
    SplittableRandom random = new SplittableRandom(seed);
    long intervalNs = random.nextLong(1, 50);
    long delayNs = random.nextLong(1, 80);
    PolledMetrics polled = new PolledMetrics(1, intervalNs, delayNs);
    List<Long> times = new ArrayList<>();
    long nowNs = 0;
    long lastPollNs = -1;
    for (int step = 0; step < 2_000; step++) {
      nowNs += random.nextInt(20);
      if (random.nextBoolean()) {
        polled.publish(0, metrics(times.size()), nowNs);
        times.add(nowNs);
        continue;
      }
      long answeredNs = nowNs - delayNs;
      long polledNs = answeredNs < 0 ? -1 : answeredNs - answeredNs % intervalNs;
      List<EngineMetrics> expected = new ArrayList<>();
      if (polledNs > lastPollNs) {
        lastPollNs = polledNs;
        int newest = -1;
        for (int i = 0; i < times.size(); i++) {
          newest = times.get(i) <= polledNs ? i : newest;
        }
        expected.add(newest < 0 ? EngineMetrics.NONE : metrics(newest));
      }
      assertThat(answers(polled, nowNs)).as("seed %s, step %s", seed, step).isEqualTo(expected);
    }
  }
}
