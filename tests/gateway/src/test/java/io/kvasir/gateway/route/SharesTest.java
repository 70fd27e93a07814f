package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SharesTest {

  private static final int REQUESTS = 20_000;
  private static final long SECOND = 1_000_000_000;

  private final List<FleetWorker> workers = new ArrayList<>();
  private final Shares shares = new Shares(100 * SECOND);

  private FleetWorker worker(double weight) {
    int others = workers.size();
    FleetWorker worker = TestWorkers.healthy(others + 1, BreakerSettings.of(1, 1)).get(others);
    worker.membership().weigh(weight);
    workers.add(worker);
    return worker;
  }

  /** The part of the requests that may go to a worker. */
  private double admitted(FleetWorker worker, long nowNs) {
    int admitted = 0;
    for (int i = 0; i < REQUESTS; i++) {
      Set<FleetWorker> excluded = shares.excluded(workers, "conversation-" + i, nowNs);
      assertThat(excluded.size()).isLessThan(workers.size());
      admitted += excluded.contains(worker) ? 0 : 1;
    }
    return (double) admitted / REQUESTS;
  }

  @Test
  void aWorkerIsAdmittedForTheShareOfItsWeight() {
    FleetWorker full = worker(1);
    FleetWorker half = worker(0.5);
    FleetWorker tenth = worker(0.1);
    assertThat(shares.differ(workers, SECOND)).isTrue();
    assertThat(admitted(full, SECOND)).isEqualTo(1);
    assertThat(admitted(half, SECOND)).isCloseTo(0.5 / 1.6, within(0.015));
    assertThat(admitted(tenth, SECOND)).isCloseTo(0.1 / 1.6, within(0.01));
  }

  @Test
  void equalWeightsLimitNothing() {
    for (double weight : new double[] {0.5, 0.5, 0.49}) {
      FleetWorker worker = worker(weight);
      assertThat(shares.differ(workers, SECOND)).isFalse();
      assertThat(admitted(worker, SECOND)).isEqualTo(1);
    }
  }

  @Test
  void withMoreWeightOnlyMoreConversationsAreAdmitted() {
    worker(1);
    FleetWorker other = worker(1);
    Set<String> before = new HashSet<>();
    for (double weight : new double[] {0.05, 0.2, 0.6, 1}) {
      other.membership().weigh(weight);
      Set<String> now = new HashSet<>();
      for (int i = 0; i < REQUESTS; i++) {
        if (!shares.excluded(workers, "c" + i, SECOND).contains(other)) {
          now.add("c" + i);
        }
      }
      assertThat(now).hasSizeGreaterThan(before.size());
      assertThat(now.containsAll(before)).isTrue(); // AssertJ's own takes the square of the time
      before = now;
    }
  }

  @Test
  void aWorkerWhoseEngineHasBegunComesToItsWeightInTime() {
    worker(1).onRecovered(-1000 * SECOND);
    FleetWorker late = worker(1);
    late.onRecovered(0);
    assertThat(admitted(late, 0)).isCloseTo(0.1 / 1.1, within(0.015));
    assertThat(admitted(late, 50 * SECOND)).isCloseTo(0.5 / 1.5, within(0.015));
    assertThat(admitted(late, 90 * SECOND)).isCloseTo(0.9 / 1.9, within(0.015));
    assertThat(admitted(late, 96 * SECOND)).isEqualTo(1);
    assertThat(new Shares(0).differ(workers, 0)).isFalse();
  }

  @Test
  void workersThatBeginTogetherAreNotLimited() {
    worker(1).onRecovered(0);
    worker(1).onRecovered(SECOND / 100);
    assertThat(shares.differ(workers, SECOND / 50)).isFalse();
    assertThat(shares.differ(workers, 20 * SECOND)).isFalse();
  }
}
