package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.cost.CostRouter;
import io.kvasir.fleet.router.cost.CostSettings;
import java.util.List;
import java.util.Map;

/**
 * Policy {@code projected}: the rank with the earliest expected first token, by a model that is
 * fitted while it routes; matches as for {@code cost}. Stateless.
 */
public final class ProjectedFleetProvider implements FleetRouterProvider {

  /** Makes the provider. */
  public ProjectedFleetProvider() {}

  @Override
  public String name() {
    return "projected";
  }

  @Override
  public List<String> keys() {
    return CostSettings.PROJECTED_KEYS;
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
    CostSettings settings = CostSettings.projected(name(), args);
    ProjectedSelector selector = new ProjectedSelector(setup.clockNs());
    return new CostRouter(
        name(),
        settings.index(setup),
        selector,
        selector,
        settings.options(),
        hitRate -> {},
        setup);
  }
}
