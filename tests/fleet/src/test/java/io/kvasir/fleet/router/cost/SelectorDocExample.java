package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;

/** The selector of docs/selector.md: {@link SelectorDocTest} sees to it that both are the same. */
final class SelectorDocExample {

  private SelectorDocExample() {}

  // selector.md begin
  /**
   * The rank that would have the fewest tokens left to compute; overlap counts, decode does not.
   */
  static final class ShortestPrefillSelector implements WorkerSelector {
    @Override
    public int select(Candidates candidates, SelectionRequest request, CostTrace trace) {
      CostPick pick = new CostPick(candidates.size(), request.requestId());
      for (int i = 0; i < candidates.size(); i++) {
        double queued = candidates.activePrefillTokens(i);
        double own =
            request.inputTokens()
                - (long) candidates.overlapBlocks(i) * candidates.tokensPerBlock();
        trace.term(i, "queuedTokens", queued);
        trace.term(i, "ownTokens", own);
        pick.add(queued + own);
      }
      return pick.lowest(); // equal ranks are drawn by the request's id
    }
  }

  // selector.md end

  static CostDecision run(GivenIndex index) {
    KvScheduler scheduler =
        new KvScheduler(
            index,
            16,
            new ShortestPrefillSelector(),
            KvSchedulerOptions.DEFAULT.withExplain(true),
            event -> {},
            System::nanoTime);
    scheduler.setRank(new RankId(7, 0), RankCapacity.UNKNOWN);
    scheduler.setRank(new RankId(7, 1), RankCapacity.UNKNOWN);
    long[] hashes = {11, 12, 13, 14};
    SelectionRequest request = SelectionRequest.builder(1, 70).blocks(hashes, 4).build();
    SelectionOutcome outcome = scheduler.submit(request).join();
    return ((SelectionOutcome.Dispatched) outcome).decision();
  }
}
