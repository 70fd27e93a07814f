package com.example.kvasir;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.EventStreams;
import io.kvasir.fleet.index.FirstNumber;
import io.kvasir.fleet.index.RecoverySource;
import io.kvasir.fleet.index.StreamLimits;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;

/** Passes numbered events of an engine to a router. */
public final class EngineEvents {

  private EngineEvents() {}

  public static void main(String[] args) {
    RankId rank = new RankId(2, 0);
    int[] prompt = IntStream.range(0, 320).toArray();
    FleetRouterSetup setup = FleetRouterSetup.of(16);
    try (FleetRouter router = FleetRouterKind.named("cost").create(Map.of(), setup)) {
      router.addRank(new RankId(1, 0), RankCapacity.UNKNOWN);
      router.addRank(rank, RankCapacity.UNKNOWN);
      RecoverySource source = RecoverySource.NONE; // or one that asks the engine for missing events
      EventStreams streams =
          new EventStreams(router.index(), source, StreamLimits.DEFAULT, FirstNumber.RECEIVED);

      BlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, 16);
      int[] tokens = Arrays.copyOf(prompt, 32); // the first two blocks
      long[] local = hasher.hash(tokens, CacheScope.NONE).local();
      long[] handles = {0xa1, 0xa2}; // what the engine calls the blocks
      streams.onEvent(rank, 1, BlockEvent.Stored.root(handles, local));

      int[] moreTokens = Arrays.copyOfRange(prompt, 32, 48); // the third block
      long[] next = hasher.hash(moreTokens, CacheScope.NONE).local();
      streams.onEvent(rank, 2, BlockEvent.Stored.after(0xa2, new long[] {0xa3}, next));
      streams.onEvent(rank, 3, BlockEvent.Removed.of(0xa3));

      FleetRequest request = FleetRequest.builder(7, Prompt.of(prompt)).build();
      if (router.route(request) instanceof RouteOutcome.Placed placed) {
        System.out.printf(
            "rank %s, %d matched blocks%n",
            placed.placement().rank(), placed.placement().matchedBlocks());
        router.onFinished(placed.placement().attempt(), true);
      }
    }
  }
}
