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
  private final List<String> displaced = new ArrayList<>();

  private Outcome arrive(AdmissionQueue queue, String tenant, long tokens, String name) {
    return queue.arrive(tenant, tokens, () -> started.add(name), () -> displaced.add(name));
  }

  /** A queue whose only place is taken. */
  private static AdmissionQueue full(int queued) {
    AdmissionQueue queue = new AdmissionQueue(1, queued);
    assertThat(queue.arrive("", 1, () -> {}, () -> {})).isEqualTo(Outcome.ADMITTED);
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
  void aCalmTenantStartsNextHoweverManyRequestsOfAnotherWait() {
    AdmissionQueue queue = full(1_000);
    for (int i = 0; i < 64; i++) {
      arrive(queue, "flood", 100, "flood");
    }
    for (int i = 0; i < 200; i++) {
      for (int each = 0; each < 4; each++) {
        queue.leave();
        arrive(queue, "flood", 100, "flood");
      }
      arrive(queue, "calm", 100, "calm " + i);
      queue.leave();
      assertThat(started.get(started.size() - 1)).isEqualTo("calm " + i);
    }
  }

  @Test
  void tenantsWithOneRequestAtATimeTakeNoMoreThanTheirShare() {
    AdmissionQueue queue = full(1_000);
    for (int i = 0; i < 400; i++) {
      arrive(queue, "flood", 100, "flood");
    }
    List.of("a", "b", "c").forEach(name -> arrive(queue, name, 100, name));
    for (int i = 0; i < 400; i++) {
      queue.leave();
      String last = started.get(started.size() - 1);
      arrive(queue, last, 100, last);
    }
    for (String name : List.of("flood", "a", "b", "c")) {
      assertThat(started.stream().filter(name::equals).count()).as(name).isBetween(95L, 105L);
    }
  }

  @Test
  void oneTenantCannotFillTheQueue() {
    AdmissionQueue queue = full(100);
    int burst = 0;
    while (arrive(queue, "burst", 1, "burst") == Outcome.WAITS) {
      burst++;
    }
    assertThat(burst).isEqualTo(50);
    assertThat(arrive(queue, "second", 1, "second")).isEqualTo(Outcome.WAITS);
    assertThat(arrive(full(1), "only", 1, "only")).isEqualTo(Outcome.WAITS);
  }

  @Test
  void tenantsThatFillTheQueueHaveEquallyManyPlaces() {
    AdmissionQueue queue = full(100);
    Map<String, Integer> places = new HashMap<>();
    for (int round = 0; round < 100; round++) {
      for (int tenant = 0; tenant < 10; tenant++) {
        String name = "tenant " + tenant;
        if (tenant <= round / 5 && arrive(queue, name, 1, name) == Outcome.WAITS) {
          places.merge(name, 1, Integer::sum);
        }
      }
    }
    displaced.forEach(name -> places.merge(name, -1, Integer::sum));
    assertThat(queue.queued()).isBetween(90, 100);
    assertThat(places).hasSize(10);
    assertThat(places.values()).allSatisfy(each -> assertThat(each).isBetween(9, 11));
    while (queue.running() > 0) {
      queue.leave();
    }
    assertThat(started).hasSize(places.values().stream().mapToInt(Integer::intValue).sum());
    assertThat(queue.queued()).isZero();
  }

  @Test
  void aPlaceOfTheTenantWithMostGoesToOneWithFewer() {
    AdmissionQueue queue = full(4);
    for (String name : List.of("a1", "a2")) {
      assertThat(arrive(queue, "a", 1, name)).isEqualTo(Outcome.WAITS);
    }
    assertThat(arrive(queue, "a", 1, "a3")).isEqualTo(Outcome.REFUSED);
    assertThat(arrive(queue, "b", 1, "b1")).isEqualTo(Outcome.WAITS);
    assertThat(arrive(queue, "c", 1, "c1")).isEqualTo(Outcome.WAITS);
    assertThat(arrive(queue, "d", 1, "d1")).as("the queue is full").isEqualTo(Outcome.WAITS);
    assertThat(displaced).containsExactly("a2");
    assertThat(arrive(queue, "a", 1, "a4")).isEqualTo(Outcome.REFUSED);
    assertThat(arrive(queue, "e", 1, "e1")).as("each has one").isEqualTo(Outcome.REFUSED);
    while (queue.running() > 0) {
      queue.leave();
    }
    assertThat(started).containsExactlyInAnyOrder("a1", "b1", "c1", "d1");
  }

  @Test
  void aRequestThatIsWithdrawnDoesNotStart() {
    AdmissionQueue queue = full(10);
    Runnable first = () -> started.add("first");
    queue.arrive("a", 1, first, () -> {});
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
