package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.function.LongSupplier;

/** Makes routers in front of engines of one rank each, numbered from 0. */
final class ProjectedRouters {

  static final int TOKENS_PER_BLOCK = 16;

  private ProjectedRouters() {}

  static FleetRouter of(int engines, Map<String, ?> args, LongSupplier clockNs) {
    FleetRouter router =
        FleetRouterKind.named("projected")
            .create(
                args, new FleetRouterSetup(HashFormat.KVASIR, TOKENS_PER_BLOCK, clockNs, Map.of()));
    for (int engine = 0; engine < engines; engine++) {
      router.addRank(new RankId(engine, 0), RankCapacity.UNKNOWN);
    }
    return router;
  }
}
