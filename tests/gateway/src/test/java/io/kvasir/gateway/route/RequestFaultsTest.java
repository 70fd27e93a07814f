package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.testing.harness.Await;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Whose fault failures are, and how many workers may rest. */
class RequestFaultsTest {

  private static final BreakerSettings SETTINGS =
      new BreakerSettings(2, 50, 10_000, 60_000, 10, 50);
  private static final RequestFault CRASH =
      RequestFault.of(new UpstreamFailure(Kind.CLOSED, "closed"));
  private static final RequestFault REFUSED =
      RequestFault.of(new UpstreamFailure(Kind.CONNECT, "refused"));

  private final Ejection ejection = new Ejection(SETTINGS);

  private void fail(List<FleetWorker> fleet, FleetWorker worker, RequestFault fault) {
    RequestFaults faults = new RequestFaults(ejection, fleet);
    faults.onSent(worker, 0);
    faults.onFailed(fault, 0);
  }

  private static long open(List<FleetWorker> fleet) {
    return fleet.stream().filter(worker -> worker.breaker().isOpen()).count();
  }

  @Test
  void requestsThatFailTheSameWayAtTwoWorkersOpenNoBreaker() {
    List<FleetWorker> fleet = TestWorkers.healthy(3, SETTINGS);
    for (RequestFault fault : List.of(RequestFault.ofStatus(500), CRASH)) {
      for (int i = 0; i < 30; i++) {
        RequestFaults faults = new RequestFaults(ejection, fleet);
        faults.onSent(fleet.get(i % 3), 0);
        faults.onFailed(fault, 0);
        assertThat(faults.isOwn()).isFalse();
        faults.onSent(fleet.get((i + 1) % 3), 0);
        faults.onFailed(fault, 0);
        assertThat(faults.isOwn()).isTrue();
        assertThat(open(fleet)).isZero();
      }
    }
  }

  @Test
  void failuresOfOtherWaysAndRefusedConnectionsCount() {
    List<FleetWorker> fleet = TestWorkers.healthy(30, SETTINGS);
    for (int i = 0; i < 2; i++) {
      RequestFaults faults = new RequestFaults(ejection, fleet);
      for (FleetWorker worker : fleet.subList(0, 2)) {
        faults.onSent(worker, 0);
        faults.onFailed(REFUSED, 0);
      }
      faults.onSent(fleet.get(2), 0);
      faults.onFailed(CRASH, 0);
      assertThat(faults.isOwn()).isFalse();
    }
    assertThat(open(fleet.subList(0, 3))).isEqualTo(3);
  }

  @Test
  void aWorkerHasServedARequestAtTheEndOfTheAnswer() {
    List<FleetWorker> fleet = TestWorkers.healthy(2, SETTINGS);
    for (int i = 0; i < 2; i++) {
      RequestFaults faults = new RequestFaults(ejection, fleet);
      faults.onSent(fleet.get(0), 0);
      faults.onBegun(0); // the first token is no success
      faults.onFailed(CRASH, 0);
      faults.onServed(0); // has no effect any more
    }
    assertThat(fleet.get(0).breaker().isOpen()).isTrue();
  }

  @Test
  void aTrialWhoseClientLeavesLeavesTheBreakerOpen() {
    List<FleetWorker> fleet = TestWorkers.healthy(2, SETTINGS);
    FleetWorker worker = fleet.get(0);
    fail(fleet, worker, CRASH);
    fail(fleet, worker, CRASH);
    long nowNs = TimeUnit.SECONDS.toNanos(60);
    RequestFaults trial = new RequestFaults(ejection, fleet);
    trial.onSent(worker, nowNs);
    trial.onBegun(nowNs);
    trial.onAbandoned(nowNs);
    trial.onServed(nowNs); // has no effect any more
    assertThat(worker.takes(false, nowNs)).as("another trial").isTrue();
    nowNs += TimeUnit.SECONDS.toNanos(600);
    assertThat(worker.takes(false, nowNs)).isTrue();
    assertThat(worker.breaker().isOpen()).isTrue();
  }

  @Test
  void atMostAShareOfTheFleetRestsAndAlwaysOneMay() {
    for (int size : new int[] {1, 2, 9, 10, 19, 20, 40}) {
      List<FleetWorker> fleet = TestWorkers.healthy(size, SETTINGS);
      for (int i = 0; i < 5; i++) {
        fleet.forEach(worker -> fail(fleet, worker, CRASH));
      }
      assertThat(open(fleet)).as("of %s", size).isEqualTo(Math.max(1, size / 10));
    }
  }

  @Test
  void theShareHoldsWhenManyWorkersFailAtOnce() {
    for (int run = 0; run < 50; run++) {
      List<FleetWorker> fleet = TestWorkers.healthy(16, SETTINGS);
      fleet.forEach(worker -> fail(fleet, worker, CRASH));
      CountDownLatch go = new CountDownLatch(1);
      AtomicInteger failed = new AtomicInteger();
      List<Thread> threads =
          fleet.stream()
              .map(
                  worker ->
                      new Thread(
                          () -> {
                            try {
                              Await.opened("the signal to fail", go);
                              fail(fleet, worker, CRASH);
                            } catch (RuntimeException | AssertionError e) {
                              failed.incrementAndGet();
                            }
                          }))
              .toList();
      threads.forEach(Thread::start);
      go.countDown();
      threads.forEach(Await::end);
      assertThat(failed).hasValue(0);
      assertThat(open(fleet)).isEqualTo(1);
    }
  }

  @Test
  void aFleetOfOneIsUsedAndOneOfTwoRests() {
    List<FleetWorker> one = TestWorkers.healthy(1, SETTINGS);
    for (int i = 0; i < 5; i++) {
      fail(one, one.get(0), CRASH);
    }
    assertThat(ejection.panics(one, "m")).isTrue();
    assertThat(one.get(0).takes(true, 0)).isTrue();

    List<FleetWorker> two = TestWorkers.healthy(2, SETTINGS);
    for (int i = 0; i < 5; i++) {
      fail(two, two.get(0), CRASH);
    }
    assertThat(ejection.panics(two, "m")).isFalse();
    assertThat(two.get(0).takes(false, 0)).isFalse();
    assertThat(two.get(1).takes(false, 0)).isTrue();
  }

  @Test
  void fewHealthyWorkersMeanPanic() {
    List<FleetWorker> fleet = TestWorkers.healthy(4, SETTINGS);
    fleet.get(0).onUnhealthy(WorkerHealth.LATE);
    fleet.get(1).onUnhealthy(WorkerHealth.UNREACHABLE);
    assertThat(ejection.panics(fleet, "m")).isFalse();
    assertThat(fleet.get(0).takes(false, 0)).isFalse();
    fleet.get(2).onUnhealthy(WorkerHealth.FAILING);
    assertThat(ejection.panics(fleet, "m")).isTrue();
    assertThat(ejection.panics(fleet, "another")).isFalse();
    assertThat(fleet.get(0).takes(true, 0)).as("late").isTrue();
    assertThat(fleet.get(1).takes(true, 0)).as("unreachable").isFalse();
    assertThat(fleet.get(2).takes(true, 0)).as("fails its checks").isTrue();
    assertThat(fleet.get(3).takes(true, 0)).isTrue();
  }

  @Test
  void lateWorkersWhoseRequestsFailRestWithoutAShare() {
    List<FleetWorker> fleet = TestWorkers.healthy(4, SETTINGS);
    for (FleetWorker worker : fleet.subList(0, 3)) {
      worker.onUnhealthy(WorkerHealth.LATE);
      for (int i = 0; i < 2; i++) {
        fail(fleet, worker, REFUSED);
      }
      assertThat(worker.takes(true, 0)).isFalse();
    }
    assertThat(fleet.get(3).takes(ejection.panics(fleet, "m"), 0)).isTrue();
  }
}
