package io.kvasir.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.legs.WholeOrApart;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Transfers that wait for room. */
class ApartFleetTest {

  private static final int BLOCK = 16;
  private static final int ROOM = 1_200;
  private static final int LARGE = 1_000;
  private static final int SMALL = 100;
  private static final NativeBlockHasher HASHER = NativeBlockHasher.of(HashFormat.KVASIR, BLOCK);

  private final Pools pools = new Pools();
  private final ApartFleet fleet = fleet();
  private final List<Long> arrived = new ArrayList<>();

  /** A pool for each of two decode workers. */
  private static final class Pools implements KvWorkers {
    final int[] free = {ROOM, ROOM};
    final Map<Long, Integer> tokens = new HashMap<>();
    final List<Long> begun = new ArrayList<>();
    int tries;

    @Override
    public void endTransferAt(int prefillWorker, long requestId, long endNs) {}

    @Override
    public @Nullable Room reserve(int decodeWorker, HashedRequest request) {
      tries++;
      int needed = request.request().promptTokens();
      if (needed > free[decodeWorker]) {
        return null;
      }
      free[decodeWorker] -= needed;
      tokens.put(request.request().id(), needed);
      begun.add(request.request().id());
      return new Room(request, needed);
    }

    @Override
    public void store(int decodeWorker, long requestId, long nowNs) {
      free[decodeWorker] += Objects.requireNonNull(tokens.get(requestId));
    }

    @Override
    public long mostMatchedTokens(HashedRequest request) {
      return 0;
    }
  }

  private ApartFleet fleet() {
    FleetSettings prefill = FleetSettings.of(1, "round_robin");
    FleetSettings decode = FleetSettings.of(2, "round_robin");
    ApartFleet made =
        new ApartFleet(
            new ApartSettings(prefill, decode, WholeOrApart.BY_FORECAST),
            routed(prefill),
            routed(decode),
            tokens -> tokens);
    made.connect(pools);
    return made;
  }

  private static RoutedFleet routed(FleetSettings settings) {
    return new RoutedFleet(
        settings, HashFormat.KVASIR, BLOCK, 1, RankCapacity.UNKNOWN, LatencyTargets.NONE);
  }

  /** A prompt is computed; prompts go to the decode workers by turns, even ones to the first. */
  private void computed(long id, int length, long nowNs) {
    int[] tokens = new int[length];
    TokenExpansion.fill(id, tokens, 0, length);
    Request request = Request.builder(id, tokens).build();
    fleet.route(new HashedRequest(request, HASHER.hash(tokens, request.scope())), nowNs);
    fleet.onComputed(id, nowNs);
    outcomes(nowNs);
  }

  private void outcomes(long nowNs) {
    fleet.outcomes(nowNs).forEach(outcome -> arrived.add(outcome.request().id()));
  }

  @Test
  void transfersOfADecodeWorkerBeginInOrder() {
    try (fleet) {
      computed(0, LARGE, 1);
      computed(1, SMALL, 2);
      computed(2, LARGE, 3);
      computed(3, SMALL, 4);
      computed(4, SMALL, 5);
      assertThat(pools.begun).as("4 would fit, but 2 is first").containsExactly(0L, 1L, 3L);

      outcomes(1 + LARGE);
      assertThat(pools.begun).containsExactly(0L, 1L, 3L, 2L, 4L);
      outcomes(1 + 2 * LARGE);
      assertThat(arrived).containsExactly(1L, 3L, 0L, 4L, 2L);
    }
  }

  @Test
  void onlyTheFirstTransferOfADecodeWorkerIsTried() {
    try (fleet) {
      for (long id = 0; id < 40; id++) {
        computed(id, LARGE, 1);
      }
      pools.tries = 0;
      outcomes(2);
      assertThat(pools.tries).as("one for each decode worker").isEqualTo(2);
    }
  }
}
