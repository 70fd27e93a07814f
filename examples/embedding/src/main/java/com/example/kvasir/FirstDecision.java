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
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Places a request with one of Kvasir's policies and with the policy of this project. */
public final class FirstDecision {

  private static final int TOKENS_PER_BLOCK = 16;

  private FirstDecision() {}

  /** Prints the placement that each policy chooses. */
  public static void main(String[] arguments) {
    for (String policy : List.of("cost", "shortest_prefill")) {
      Placement placement = place(policy);
      System.out.printf(
          "%s: rank %s, %d tokens matched, reason %s%n",
          policy, placement.rank(), placement.matchedTokens(), placement.reason().id());
    }
  }

  private static Placement place(String policy) {
    RankId empty = new RankId(1, 0);
    RankId warm = new RankId(2, 0);
    int[] prompt = IntStream.range(0, 320).toArray();
    FleetRouterSetup setup = FleetRouterSetup.of(TOKENS_PER_BLOCK);
    try (FleetRouter router = FleetRouterKind.named(policy).create(Map.of(), setup)) {
      router.addRank(empty, RankCapacity.UNKNOWN);
      router.addRank(warm, RankCapacity.UNKNOWN);

      // The second rank reports that it holds the prompt's blocks.
      NativeBlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, TOKENS_PER_BLOCK);
      BlockHashes hashes = hasher.hash(prompt, CacheScope.NONE);
      router.onBlocks(warm, BlockEvent.Stored.named(HashFormat.KVASIR, hashes.sequence()));

      FleetRequest request = FleetRequest.builder(7, Prompt.of(prompt)).build();
      RouteOutcome outcome = router.route(request);
      if (!(outcome instanceof RouteOutcome.Placed placed)) {
        throw new IllegalStateException("not placed: " + outcome);
      }
      router.onFinished(placed.placement().attempt(), true);
      return placed.placement();
    }
  }
}
