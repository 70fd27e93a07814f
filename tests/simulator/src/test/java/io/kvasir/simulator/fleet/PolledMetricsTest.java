package io.kvasir.simulator.selection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PolledLoadsTest {

  private static InstanceLoad load(int activeBlocks) {
    return new InstanceLoad(activeBlocks, 100, activeBlocks / 10);
  }

  private static InstanceLoad seen(PolledLoads loads, long nowNs) {
    loads.update(nowNs);
    return loads.load(0);
  }

  @Test
  void metricsAreSeenFromTheAnswerOfTheNextPollOn() {
    PolledLoads loads = new PolledLoads(1, 100, 30);
    loads.publish(0, load(50), 101);
    assertThat(seen(loads, 130)).as("the poll at 100 came too early").isEqualTo(InstanceLoad.NONE);
    assertThat(seen(loads, 229)).as("the answer to 200 is on its way").isEqualTo(InstanceLoad.NONE);
    assertThat(seen(loads, 230)).isEqualTo(load(50));
    assertThat(seen(loads, 1_000)).as("nothing new").isEqualTo(load(50));
  }

  @Test
  void whatWasPlacedCountsUntilTheNextAnswerReplacesIt() {
    PolledLoads loads = new PolledLoads(2, 100, 0);
    loads.publish(0, load(20), 5);
    loads.update(100);
    loads.place(0, 7);
    loads.place(0, 1);
    loads.update(199);
    assertThat(loads.load(0)).isEqualTo(new InstanceLoad(28, 100, 4));
    assertThat(loads.load(1)).isEqualTo(InstanceLoad.NONE);
    loads.update(200);
    assertThat(loads.load(0)).as("the engine has told nothing new").isEqualTo(load(20));
  }

  @Test
  void everyPollFindsTheNewestMetricsOfItsTime() {
    long seed = Long.getLong("kvasir.test.seed", 20);
    SplittableRandom random = new SplittableRandom(seed);
    long intervalNs = random.nextLong(1, 50);
    long delayNs = random.nextLong(1, 80);
    PolledLoads loads = new PolledLoads(1, intervalNs, delayNs);
    List<Long> times = new ArrayList<>();
    long nowNs = 0;
    for (int step = 0; step < 2_000; step++) {
      nowNs += random.nextInt(20);
      if (random.nextBoolean()) {
        loads.publish(0, load(times.size()), nowNs);
        times.add(nowNs);
      } else {
        long answeredNs = nowNs - delayNs;
        long polledNs = answeredNs < 0 ? -1 : answeredNs - answeredNs % intervalNs;
        int newest = -1;
        for (int i = 0; i < times.size(); i++) {
          newest = times.get(i) <= polledNs ? i : newest;
        }
        InstanceLoad expected = newest < 0 ? InstanceLoad.NONE : load(newest);
        assertThat(seen(loads, nowNs)).as("seed %s, step %s", seed, step).isEqualTo(expected);
      }
    }
  }
}
