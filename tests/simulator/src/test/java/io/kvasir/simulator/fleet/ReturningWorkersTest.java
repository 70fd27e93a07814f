package io.kvasir.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers that join a fleet in mid-replay. */
class ReturningWorkersTest {

  private static final int BLOCK = 16;
  private static final long RETURN_NS = 1000;

  private final Random random = new Random(37);
  private long nextId;

  /** The workers of forty requests that stay in flight. */
  private Set<Integer> workers(RoutedFleet fleet, HashFormat naming, long nowNs) {
    Set<Integer> workers = new TreeSet<>();
    for (int i = 0; i < 40; i++) {
      int[] tokens = random.ints(100, 0, 1000).toArray();
      HashedRequest request =
          new HashedRequest(
              Request.builder(nextId++, tokens).conversationId("c" + nextId).build(),
              NativeBlockHasher.of(naming, BLOCK).hash(tokens, CacheScope.NONE));
      workers.add(fleet.route(request, nowNs).worker());
    }
    return workers;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "round_robin",
        "load_balancing",
        "kv_cache_aware",
        "conversation",
        "cost",
        "approximate",
        "polled",
        "projected"
      })
  void aWorkerGetsRequestsFromItsReturnOn(String router) {
    FleetSettings settings = FleetSettings.of(3, router).withReturnNs(Map.of(1, RETURN_NS));
    HashFormat naming = settings.naming(HashFormat.KVASIR);
    try (RoutedFleet fleet =
        new RoutedFleet(settings, naming, BLOCK, 1, RankCapacity.UNKNOWN, LatencyTargets.NONE)) {
      assertThat(workers(fleet, naming, 0)).containsExactly(0, 2);
      assertThat(workers(fleet, naming, RETURN_NS - 1)).containsExactly(0, 2);
      assertThat(workers(fleet, naming, RETURN_NS)).contains(1);
    }
  }

  @Test
  void aWorkerMustExistAndOneMustBeThere() {
    FleetSettings two = FleetSettings.of(2, "cost");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> two.withReturnNs(Map.of(2, 1L)))
        .withMessageContaining("returnNs must be");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> two.withReturnNs(Map.of(0, 1L, 1, 1L)))
        .withMessage("returnNs must leave a worker that is there at first");
  }
}
