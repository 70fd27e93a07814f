package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import java.util.List;
import java.util.Map;

/**
 * Policy {@code approximate}: matches by placements alone, for engines that send no block events;
 * load as predicted. Stateless.
 */
public final class ApproximateRouterProvider implements FleetRouterProvider {

  /** Makes the provider. */
  public ApproximateRouterProvider() {}

  @Override
  public String name() {
    return "approximate";
  }

  @Override
  public List<String> keys() {
    return CostSettings.APPROXIMATE_KEYS;
  }

  @Override
  public boolean choosesRanks() {
    return true;
  }

  @Override
  public boolean followsBlocks() {
    return false;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    CostSettings settings = CostSettings.approximate(name(), args);
    return CostRouterProvider.router(
        name(), settings.booking().approximateIndex(setup), settings, setup);
  }
}
