package io.kvasir.fleet.router.whatif;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A policy that is asked only. Its events are those of its virtual ranks. Not thread-safe. */
final class AskedRouter {

  private static final Logger LOG = LoggerFactory.getLogger(AskedRouter.class);

  final FleetRouter router;
  final VirtualRanks ranks;
  private final boolean follows;

  AskedRouter(FleetRouterProvider provider, Map<String, Object> args, FleetRouterSetup setup) {
    router = provider.create(args, setup);
    ranks = new VirtualRanks(provider.name(), setup);
    follows = provider.followsBlocks();
  }

  /** Calls the router; an exception is logged, so that it cannot affect the actual router. */
  void safely(Consumer<FleetRouter> call) {
    try {
      call.accept(router);
    } catch (RuntimeException e) {
      LOG.warn("The what-if router {} failed", router.name(), e);
    }
  }

  /** Returns the attempt; 0 if the request is not placed. */
  long placeOrNot(FleetRequest request) {
    try {
      return place(request);
    } catch (RuntimeException e) {
      LOG.warn("{} could not say where it would place {}", router.name(), request, e);
      ranks.refused();
      return 0;
    }
  }

  private void onBlocks(RankId rank, BlockEvent event) {
    if (follows) {
      router.onBlocks(rank, event);
    }
  }

  boolean readsTokens(FleetRequest request) {
    try {
      return router.readsTokens(request);
    } catch (RuntimeException e) {
      LOG.warn("The what-if router {} failed", router.name(), e);
      return false;
    }
  }

  private long place(FleetRequest request) {
    RouteOutcome outcome = router.route(request);
    if (outcome instanceof RouteOutcome.Placed placed) {
      long attempt = placed.placement().attempt();
      try {
        ranks.placed(request, placed.placement().rank(), this::onBlocks);
      } catch (RuntimeException e) {
        router.onFinished(attempt, false);
        throw e;
      }
      return attempt;
    }
    if (outcome instanceof RouteOutcome.Waiting waiting) {
      waiting.outcome().cancel(false);
    }
    ranks.refused();
    return 0;
  }
}
