package com.example.kvasir;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.stream.IntStream;

/** Places requests with the two policies of this project. */
public final class CustomPolicies {

  private static final int TOKENS_PER_BLOCK = 16;
  private static final int WORKERS = 4;
  private static final int[] PROMPT = IntStream.range(0, 320).toArray();

  private CustomPolicies() {}

  public static void main(String[] args) {
    try (FleetRouter router = router("shortest_prefill")) {
      // Rank 2/0 holds the first 10 of the prompt's 20 blocks.
      long[] held =
          NativeBlockHasher.of(HashFormat.KVASIR, TOKENS_PER_BLOCK)
              .hash(IntStream.range(0, 160).toArray(), CacheScope.NONE)
              .sequence();
      router.onBlocks(new RankId(2, 0), BlockEvent.Stored.named(HashFormat.KVASIR, held));
      Placement placement = place(router, CacheScope.NONE);
      System.out.printf(
          "shortest_prefill: rank %s, %d matched blocks%n",
          placement.rank(), placement.matchedBlocks());
      placement
          .candidates()
          .forEach(
              candidate ->
                  System.out.printf("  rank %s: %s%n", candidate.rank(), candidate.terms()));
    }
    try (FleetRouter router = router("adapter")) {
      for (long adapter : new long[] {1, 2, 1, 2}) {
        Placement placement = place(router, CacheScope.NONE.withLora(adapter));
        System.out.printf("adapter: LoRA adapter %d, rank %s%n", adapter, placement.rank());
      }
    }
  }

  private static FleetRouter router(String policy) {
    FleetRouter router =
        FleetRouterKind.named(policy).create(Map.of(), FleetRouterSetup.of(TOKENS_PER_BLOCK));
    for (int worker = 1; worker <= WORKERS; worker++) {
      router.addRank(new RankId(worker, 0), RankCapacity.UNKNOWN);
    }
    return router;
  }

  private static Placement place(FleetRouter router, CacheScope scope) {
    FleetRequest request = FleetRequest.builder(7, Prompt.of(PROMPT)).scope(scope).build();
    if (router.route(request) instanceof RouteOutcome.Placed placed) {
      router.onFinished(placed.placement().attempt(), true);
      return placed.placement();
    }
    throw new IllegalStateException("not placed");
  }
}
