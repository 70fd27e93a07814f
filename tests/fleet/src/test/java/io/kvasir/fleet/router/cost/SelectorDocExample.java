package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import java.util.List;
import java.util.Map;

/** The policy of docs/selector.md: {@link SelectorDocTest} checks that both are the same. */
final class SelectorDocExample {

  private SelectorDocExample() {}

  /** The index of the example's routers. */
  static PrefixIndex index = new GivenIndex();

  // selector.md begin
  /** Chooses the rank with the fewest prompt tokens left to compute. Decode does not count. */
  static final class ShortestPrefillSelector implements RankSelector {
    @Override
    public int select(Candidates candidates, FleetRequest request, CostTrace trace) {
      CostPick pick = new CostPick(candidates.size(), request.id());
      for (int i = 0; i < candidates.size(); i++) {
        double queued = candidates.activePrefillTokens(i);
        double own =
            request.inputTokens()
                - (long) candidates.matchedBlocks(i) * candidates.tokensPerBlock();
        trace.term(i, "queuedTokens", queued);
        trace.term(i, "ownTokens", own);
        pick.add(queued + own);
      }
      return pick.lowest(); // the request's id decides among equals
    }
  }

  /** Makes it available under the name {@code shortest_prefill}. */
  static final class ShortestPrefillProvider implements FleetRouterProvider {
    @Override
    public String name() {
      return "shortest_prefill";
    }

    @Override
    public List<String> keys() {
      return List.of(); // it has no args
    }

    @Override
    public boolean choosesRanks() {
      return true;
    }

    @Override
    public boolean followsBlocks() {
      return true;
    }

    @Override
    public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
      return new CostRouter(
          name(),
          index,
          new ShortestPrefillSelector(),
          CostRouterOptions.DEFAULT.withExplain(true),
          hitRate -> {},
          setup);
    }
  }

  // selector.md end
}
