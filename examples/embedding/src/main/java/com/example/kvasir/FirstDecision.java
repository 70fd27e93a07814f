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
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.stream.IntStream;

/** Places one request with policy {@code cost}. */
public final class FirstDecision {

  private static final int TOKENS_PER_BLOCK = 16;

  private FirstDecision() {}

  public static void main(String[] args) {
    RankId empty = new RankId(1, 0); // worker 1, rank 0
    RankId warm = new RankId(2, 0);
    int[] prompt = IntStream.range(0, 320).toArray();
    FleetRouterSetup setup = FleetRouterSetup.of(TOKENS_PER_BLOCK);
    try (FleetRouter router = FleetRouterKind.named("cost").create(Map.of(), setup)) {
      router.addRank(empty, RankCapacity.UNKNOWN);
      router.addRank(warm, RankCapacity.UNKNOWN);

      // The second rank reports that it holds the prompt's blocks.
      NativeBlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, TOKENS_PER_BLOCK);
      BlockHashes hashes = hasher.hash(prompt, CacheScope.NONE);
      router.onBlocks(warm, BlockEvent.Stored.named(HashFormat.KVASIR, hashes.sequence()));

      FleetRequest request = FleetRequest.builder(7, Prompt.of(prompt)).build();
      RouteOutcome outcome = router.route(request);
      if (outcome instanceof RouteOutcome.Placed placed) {
        Placement placement = placed.placement();
        System.out.printf(
            "rank %s, reason %s, %d matched blocks%n",
            placement.rank(), placement.reason(), placement.matchedBlocks());
        router.onFinished(placement.attempt(), true);
      }
    }
  }
}
