package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Scatters requests over the ranks that have room, by a hash of id and seed. */
final class SpreadRouter implements AdpRouter {

  private final long seed;
  List<RankState> lastStates = List.of();
  PrefixMatches lastMatches = PrefixMatches.NONE;
  int routed;

  /** What it throws instead of an answer. */
  RuntimeException failure;

  LoadMetric metric = LoadMetric.UNCACHED_PROMPT_TOKENS;

  /** What it never places. */
  long refusedId = Long.MIN_VALUE;

  SpreadRouter(long seed) {
    this.seed = seed;
  }

  @Override
  public String name() {
    return "spread";
  }

  @Override
  public boolean needsPrefixMatches() {
    return true;
  }

  @Override
  public LoadMetric loadMetric() {
    return metric;
  }

  @Override
  public Assignment route(
      List<RankState> states, List<Request> requests, PrefixMatches matches, int maxActive) {
    if (failure != null) {
      throw failure;
    }
    routed++;
    lastStates = states;
    lastMatches = matches;
    int live = states.size();
    int ranks = states.get(live - 1).rank() + 1;
    int[] active = new int[ranks];
    Arrays.fill(active, maxActive);
    states.forEach(state -> active[state.rank()] = state.activeRequests());
    List<Decision> decisions = new ArrayList<>();
    List<Request> unassigned = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      Request request = requests.get(i);
      int rank = request.targetRank();
      if (rank == Request.ANY_RANK) {
        rank = states.get((int) Math.floorMod(Mix64.mix(request.id() ^ seed), (long) live)).rank();
      }
      rank = Math.min(rank, ranks - 1);
      for (int tried = 0; active[rank] >= maxActive && tried < ranks; tried++) {
        rank = (rank + 1) % ranks;
      }
      if (active[rank] >= maxActive || request.id() == refusedId) {
        unassigned.add(request);
        continue;
      }
      active[rank] += request.sequences();
      decisions.add(new Decision(request, i, rank, AdpReason.LOAD, matches.tokens(rank, i)));
    }
    return new Assignment(ranks, decisions, unassigned, maxActive, new long[ranks]);
  }
}
