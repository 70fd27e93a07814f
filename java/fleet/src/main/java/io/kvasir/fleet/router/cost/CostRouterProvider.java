package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.booking.BookingRouter;
import java.util.List;
import java.util.Map;

/**
 * Policy {@code cost}: matches by block events, and by placements until the events arrive; load as
 * predicted. Stateless.
 */
public final class CostRouterProvider implements FleetRouterProvider {

  /** Makes the provider. */
  public CostRouterProvider() {}

  @Override
  public String name() {
    return "cost";
  }

  @Override
  public List<String> keys() {
    return CostSettings.COST_KEYS;
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
    CostSettings settings = CostSettings.cost(name(), args);
    return router(name(), settings.booking().index(setup), settings, setup);
  }

  static BookingRouter router(
      String name, PrefixIndex index, CostSettings settings, FleetRouterSetup setup) {
    return new BookingRouter(
        name,
        index,
        new CostSelector(settings.weights(), settings.ties()),
        settings.booking().options(),
        setup);
  }
}
