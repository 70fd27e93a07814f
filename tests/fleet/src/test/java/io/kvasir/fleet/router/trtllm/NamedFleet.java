package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.WorkerRouter;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A router over workers of two ranks, identified by names as in the vectors. */
final class NamedFleet {

  private static final int RANKS = 2;

  private final WorkerRouter<?> router;

  /** Ids descend, so that no result depends on their order. */
  private final List<String> names = new ArrayList<>();

  NamedFleet(WorkerRouter<?> router, String... workers) {
    this.router = router;
    List.of(workers).forEach(this::add);
  }

  WorkerRouter<?> router() {
    return router;
  }

  long id(String worker) {
    if (!names.contains(worker)) {
      names.add(worker);
    }
    return ~names.indexOf(worker);
  }

  String name(RankId rank) {
    assertThat(rank.isAny()).isTrue();
    return names.get((int) ~rank.workerId());
  }

  boolean add(String worker) {
    boolean added = false;
    for (int rank = 0; rank < RANKS; rank++) {
      added |= router.addRank(new RankId(id(worker), rank), RankCapacity.UNKNOWN);
    }
    return added;
  }

  boolean remove(String worker) {
    boolean removed = false;
    for (int rank = 0; rank < RANKS; rank++) {
      removed |= router.removeRank(new RankId(id(worker), rank));
    }
    return removed;
  }

  boolean has(String worker) {
    PredictedLoads loads = new PredictedLoads();
    router.loads(loads);
    return loads.indexOf(RankId.anyOf(id(worker))) >= 0;
  }

  long load(String worker) {
    return router.load(id(worker));
  }

  RankFilter without(String... workers) {
    Set<RankId> excluded = new HashSet<>();
    for (String worker : workers) {
      excluded.add(RankId.anyOf(id(worker)));
    }
    return RankFilter.exclude(excluded);
  }

  RankFilter withoutRanksOf(Set<String> workers) {
    Set<RankId> excluded = new HashSet<>();
    for (String worker : workers) {
      for (int rank = 0; rank < RANKS; rank++) {
        excluded.add(new RankId(id(worker), rank));
      }
    }
    return RankFilter.exclude(excluded);
  }

  /** Tokenizes when the router requires it, like a caller without a tokenizer. */
  FleetRequest build(FleetRequestBuilder request) {
    FleetRequest built = request.build();
    return router.readsTokens(built) ? request.tokens(built.prompt().codePoints()).build() : built;
  }

  RouteOutcome route(FleetRequestBuilder request) {
    return router.route(build(request));
  }

  Placement place(FleetRequestBuilder request, String... excluded) {
    return placement(route(excluded.length == 0 ? request : request.filter(without(excluded))));
  }

  /** The name of the worker chosen for a request. */
  String worker(FleetRequestBuilder request, String... excluded) {
    return name(place(request, excluded).rank());
  }

  void finish(Placement placement, boolean success) {
    router.onFinished(placement.attempt(), success);
  }

  void tell(String worker, BlockEvent event) {
    router.onBlocks(RankId.anyOf(id(worker)), event);
  }

  /** Matched tokens by worker. */
  Map<String, Long> matches(Placement placement) {
    Map<String, Long> matches = new LinkedHashMap<>();
    for (CandidateCost candidate : placement.candidates()) {
      matches.put(
          name(candidate.rank()), (long) candidate.matchedBlocks() * placement.tokensPerBlock());
    }
    return matches;
  }

  static Placement placement(RouteOutcome outcome) {
    assertThat(outcome).isInstanceOf(RouteOutcome.Placed.class);
    return ((RouteOutcome.Placed) outcome).placement();
  }
}
