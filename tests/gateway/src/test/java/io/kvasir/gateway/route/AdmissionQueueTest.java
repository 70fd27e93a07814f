package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.route.AdmissionQueue.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Which requests start next. */
class AdmissionQueueTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 11);
  private static final long SECOND = 1_000_000_000;

  private final List<String> started = new ArrayList<>();
  private final List<String> displaced = new ArrayList<>();

  /** The tenants of the requests in service. */
  private final Deque<String> running = new ArrayDeque<>();

  private final PlannedActions loop = new PlannedActions();
  private long nowNs;

  private AdmissionQueue queue(int running, int queued) {
    return new AdmissionQueue(running, queued, () -> nowNs, loop);
  }

  private Outcome arrive(AdmissionQueue queue, String tenant, long tokens, String name) {
    Runnable start =
        () -> {
          started.add(name);
          running.add(tenant);
        };
    Outcome outcome = queue.arrive(tenant, tokens, start, () -> displaced.add(name));
    if (outcome == Outcome.ADMITTED) {
      running.add(tenant);
    }
    return outcome;
  }

  /** A queue whose only place is taken. */
  private AdmissionQueue full(int queued) {
    AdmissionQueue queue = queue(1, queued);
    assertThat(arrive(queue, "", 1, "first")).isEqualTo(Outcome.ADMITTED);
    return queue;
  }

  /** The request that has been in service for longest is over. */
  private void leave(AdmissionQueue queue) {
    queue.leave(running.remove());
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
      leave(queue);
    }
    assertThat(running).isEmpty();
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
      leave(queue);
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
    leave(queue);
    leave(queue);
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
        leave(queue);
        arrive(queue, "flood", 100, "flood");
      }
      arrive(queue, "calm", 100, "calm " + i);
      leave(queue);
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
      leave(queue);
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
      leave(queue);
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
      leave(queue);
    }
    assertThat(started).containsExactlyInAnyOrder("a1", "b1", "c1", "d1");
  }

  @Test
  void aRequestThatIsWithdrawnDoesNotStart() {
    AdmissionQueue queue = full(10);
    Runnable withdrawn = () -> started.add("withdrawn");
    queue.arrive("a", 1, withdrawn, () -> {});
    arrive(queue, "b", 1, "second");
    assertThat(queue.withdraw(withdrawn)).isTrue();
    assertThat(queue.withdraw(withdrawn)).isFalse();
    assertThat(queue.queued()).isEqualTo(1);
    leave(queue);
    leave(queue);
    assertThat(started).containsExactly("second");
    assertThat(queue.running()).isZero();
  }

  @Test
  void aPlaceIsKeptForATenantThatWasHereWithinAMinute() {
    AdmissionQueue queue = queue(8, 100);
    arrive(queue, "calm", 1, "calm 1");
    leave(queue);
    for (int i = 0; i < 10; i++) {
      arrive(queue, "flood", 1, "flood " + i);
    }
    assertThat(queue.running()).isEqualTo(7);
    assertThat(arrive(queue, "calm", 1, "calm 2")).isEqualTo(Outcome.ADMITTED);
    assertThat(queue.running()).isEqualTo(8);
    queue.leave("calm");
    running.removeLast();
    assertThat(queue.running()).as("kept again").isEqualTo(7);
    nowNs += 59 * SECOND;
    leave(queue);
    assertThat(queue.running()).isEqualTo(7);
    nowNs += 2 * SECOND;
    leave(queue);
    assertThat(queue.running()).as("free for all").isEqualTo(8);
    assertThat(arrive(queue, "calm", 1, "calm 3")).isEqualTo(Outcome.WAITS);
    leave(queue);
    assertThat(started).as("as the next one").endsWith("calm 3");
  }

  @Test
  void aRequestStartsWhenAPlaceIsKeptNoLonger() {
    AdmissionQueue queue = queue(4, 100);
    arrive(queue, "calm", 1, "calm 1");
    leave(queue);
    nowNs += SECOND;
    for (int i = 1; i <= 4; i++) {
      arrive(queue, "flood", 1, "flood " + i);
    }
    PlannedActions.Planned look = loop.takeOnly();
    nowNs += look.delayMs() * 1_000_000;
    look.action().run();
    assertThat(started).containsExactly("flood 4");
    assertThat(look.delayMs()).isBetween(59_000L, 59_010L);
  }

  @Test
  void atMostAQuarterOfThePlacesIsKept() {
    AdmissionQueue queue = queue(8, 100);
    for (int i = 0; i < 20; i++) {
      arrive(queue, "tenant " + i, 1, "tenant " + i);
      leave(queue);
    }
    for (int i = 0; i < 10; i++) {
      arrive(queue, "flood", 1, "flood " + i);
    }
    assertThat(queue.running()).isEqualTo(6);
    assertThat(arrive(queue, "tenant 1", 1, "one")).isEqualTo(Outcome.ADMITTED);
    assertThat(arrive(queue, "tenant 1", 1, "one")).isEqualTo(Outcome.WAITS);
    assertThat(arrive(queue, "tenant 2", 1, "two")).isEqualTo(Outcome.ADMITTED);
    assertThat(arrive(queue, "tenant 3", 1, "three")).isEqualTo(Outcome.WAITS);
    AdmissionQueue three = queue(3, 100);
    arrive(three, "calm", 1, "calm");
    three.leave("calm");
    for (int i = 0; i < 4; i++) {
      arrive(three, "flood", 1, "flood");
    }
    assertThat(three.running()).as("a quarter of three is none").isEqualTo(3);
  }

  @Test
  void aTenantThatReturnsWaitsForFewTokensOfEachOther() {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    AdmissionQueue queue = queue(8, 100_000);
    Map<String, Integer> sizes =
        Map.of("small", 1_000, "large", 100_000, "calm 1", 500, "calm 2", 500, "calm 3", 500);
    Map<String, Long> begun = new HashMap<>();
    List<String> inService = new ArrayList<>();
    Map<String, Map<String, Long>> asking = new TreeMap<>();
    int waited = 0;
    for (int step = 0; step < 20_000; step++) {
      String tenant = "calm " + (1 + random.nextInt(3));
      if (step < 60) {
        tenant = step % 2 == 0 ? "small" : "large";
      } else if (random.nextInt(3) > 0 || asking.containsKey(tenant)) {
        String over = inService.remove(random.nextInt(inService.size()));
        queue.leave(over);
        tenant = over.startsWith("calm") ? "" : over; // floods go on
      }
      if (!tenant.isEmpty()) {
        Map<String, Long> before = new HashMap<>(begun);
        String of = tenant;
        Runnable start =
            () -> {
              inService.add(of);
              begun.merge(of, (long) sizes.get(of), Long::sum);
              if (asking.remove(of) != null) {
                begun.forEach(
                    (other, tokens) ->
                        assertThat(tokens - before.getOrDefault(other, 0L))
                            .as("%s before %s", other, of)
                            .isLessThanOrEqualTo(3L * sizes.get(other) + 1_000));
              }
            };
        if (tenant.startsWith("calm")) {
          asking.put(tenant, before);
        }
        switch (queue.arrive(tenant, sizes.get(tenant), start, () -> {})) {
          case ADMITTED -> start.run();
          case WAITS -> waited += tenant.startsWith("calm") ? 1 : 0;
          case REFUSED -> throw new AssertionError(tenant);
        }
      }
    }
    assertThat(waited).isGreaterThan(100);
  }

  /** What a tenant has here, as the test counts it. */
  private static final class Own {
    final List<Runnable> waiting = new ArrayList<>();
    int running;
    long emptySinceNs = -1_000 * SECOND;
  }

  @Test
  void nothingWaitsThatMayStart() {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    for (int places : List.of(1, 3, 8, 33)) {
      AdmissionQueue queue = queue(places, 60);
      Map<String, Own> tenants = new TreeMap<>();
      for (int step = 0; step < 20_000; step++) {
        nowNs += random.nextInt(3) * SECOND / 2;
        String tenant = "" + (char) ('a' + Math.min(random.nextInt(9), random.nextInt(9)));
        Own own = tenants.computeIfAbsent(tenant, unused -> new Own());
        if (random.nextInt(20) == 0 && !own.waiting.isEmpty()) {
          assertThat(queue.withdraw(own.waiting.remove(0))).isTrue();
          own.emptySinceNs = nowNs;
          check(queue, tenants, places);
          continue;
        }
        if (own.running > 0 && random.nextBoolean()) {
          own.running--;
          own.emptySinceNs = nowNs;
          queue.leave(tenant);
        } else {
          arrive(queue, tenant, own, random);
        }
        check(queue, tenants, places);
      }
    }
  }

  private void arrive(AdmissionQueue queue, String tenant, Own own, Random random) {
    Runnable[] start = new Runnable[1];
    start[0] =
        () -> {
          own.waiting.remove(start[0]);
          own.running++;
        };
    own.waiting.add(start[0]);
    switch (queue.arrive(
        tenant, random.nextInt(5_000), start[0], () -> own.waiting.remove(start[0]))) {
      case ADMITTED -> start[0].run();
      case REFUSED -> own.waiting.remove(start[0]);
      case WAITS -> {}
    }
    own.emptySinceNs = nowNs;
  }

  private void check(AdmissionQueue queue, Map<String, Own> tenants, int places) {
    int running = tenants.values().stream().mapToInt(own -> own.running).sum();
    int waiting = tenants.values().stream().mapToInt(own -> own.waiting.size()).sum();
    long idle =
        tenants.values().stream()
            .filter(own -> own.running == 0 && own.waiting.isEmpty())
            .filter(own -> nowNs - own.emptySinceNs < 60 * SECOND)
            .count();
    long kept = Math.min(idle, places / 4);
    assertThat(queue.running()).isEqualTo(running).isLessThanOrEqualTo(places);
    assertThat(queue.queued()).isEqualTo(waiting);
    tenants.forEach(
        (tenant, own) -> {
          if (!own.waiting.isEmpty()) {
            long free = places - running - (own.running == 0 ? 0 : kept);
            assertThat(free).as(tenant).isLessThanOrEqualTo(0);
          }
        });
  }
}
