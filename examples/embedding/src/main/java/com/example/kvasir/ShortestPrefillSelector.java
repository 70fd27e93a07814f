package com.example.kvasir;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.booking.Candidates;
import io.kvasir.fleet.router.booking.CostTrace;
import io.kvasir.fleet.router.booking.RankSelector;
import io.kvasir.fleet.router.booking.Selection;
import io.kvasir.fleet.router.cost.CostPick;

/** Chooses the rank with the fewest prompt tokens left to compute. Decode does not count. */
final class ShortestPrefillSelector implements RankSelector {

  @Override
  public Selection select(Candidates candidates, FleetRequest request, CostTrace trace) {
    CostPick pick = new CostPick(candidates.size(), request.id());
    for (int i = 0; i < candidates.size(); i++) {
      double queued = candidates.activePrefillTokens(i);
      double own =
          request.inputTokens() - (long) candidates.matchedBlocks(i) * candidates.tokensPerBlock();
      trace.term(i, "queuedTokens", queued);
      trace.term(i, "ownTokens", own);
      pick.add(queued + own);
    }
    return Selection.of(pick.lowest()); // the request's id decides among equal ranks
  }
}
