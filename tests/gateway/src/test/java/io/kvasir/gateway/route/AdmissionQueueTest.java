package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.route.AdmissionQueue.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which requests start next. */
class AdmissionQueueTest {

  private final List<String> started = new ArrayList<>();

  private Outcome arrive(AdmissionQueue queue, String tenant, long tokens, String name) {
    return queue.arrive(tenant, tokens, () -> started.add(name));
  }

  /** A queue whose only place is taken. */
  private static AdmissionQueue full(int queued) {
    AdmissionQueue queue = new AdmissionQueue(1, queued);
    assertThat(queue.arrive("", 1, () -> {})).isEqualTo(Outcome.ADMITTED);
    return queue;
  }

  @Test
  void withoutTenantsRequestsStartInArrivalOrderWhateverTheirSize() {
    AdmissionQueue queue = full(4);
    for (String name : List.of("a", "b", "c", "d")) {
      assertThat(arrive(queue, "", name.equals("b") ? 1_000_000 : 0, name))
          .isEqualTo(Outcome.WAITS);
    }
    assertThat(arrive(queue, "", 1, "e")).isEqualTo(Outcome.REFUSED);
    assertThat(queue.queued()).isEqualTo(4);
    for (int i = 0; i < 5; i++) {
      queue.leave();
    }
    assertThat(started).containsExactly("a", "b", "c", "d");
    assertThat(queue.queued()).isZero();
    assertThat(queue.running()).isZero();
  }

  @Test
  void tenantsStartEquallyManyTokens() {
    AdmissionQueue queue = full(100_000);
    Map<String, Long> tokens = Map.of("long", 32_000L, "middle", 3_000L, "short", 100L);
    tokens.forEach(
        (tenant, each) -> {
          for (int i = 0; i < 12_000; i++) {
            arrive(queue, tenant, each, tenant);
          }
        });
    for (int i = 0; i < 2_000; i++) {
      queue.leave();
    }
    Map<String, Long> sums = new HashMap<>();
    started.forEach(tenant -> sums.merge(tenant, Math.max(128, tokens.get(tenant)), Long::sum));
    double mean = sums.values().stream().mapToLong(Long::longValue).average().orElseThrow();
    assertThat(sums).hasSize(3);
    assertThat(sums.values())
        .allSatisfy(sum -> assertThat((double) sum).isBetween(0.7 * mean, 1.3 * mean));
  }

  @Test
  void aTenantsBurstDelaysAnotherByOneRequest() {
    AdmissionQueue queue = full(1_000);
    for (int i = 0; i < 400; i++) {
      arrive(queue, "burst", 100_000, "burst");
    }
    arrive(queue, "other", 1_000, "other");
    queue.leave();
    queue.leave();
    assertThat(started).contains("other");
  }

  @Test
  void oneTenantCannotFillTheQueue() {
    AdmissionQueue queue = full(100);
    int burst = 0;
    while (arrive(queue, "burst", 1, "burst") == Outcome.WAITS) {
      burst++;
    }
    assertThat(burst).isEqualTo(50);
    int second = 0;
    while (arrive(queue, "second", 1, "second") == Outcome.WAITS) {
      second++;
    }
    assertThat(second).isEqualTo(25);
    assertThat(arrive(queue, "third", 1, "third")).isEqualTo(Outcome.WAITS);
    assertThat(arrive(full(1), "only", 1, "only")).isEqualTo(Outcome.WAITS);
  }

  @Test
  void aRequestThatIsWithdrawnDoesNotStart() {
    AdmissionQueue queue = full(10);
    Runnable first = () -> started.add("first");
    queue.arrive("a", 1, first);
    arrive(queue, "b", 1, "second");
    assertThat(queue.withdraw(first)).isTrue();
    assertThat(queue.withdraw(first)).isFalse();
    assertThat(queue.queued()).isEqualTo(1);
    queue.leave();
    queue.leave();
    assertThat(started).containsExactly("second");
    assertThat(queue.running()).isZero();
  }
}
