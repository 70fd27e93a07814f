package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.fleet.router.cost.CostRouter;
import io.kvasir.fleet.router.cost.CostSettings;
import io.kvasir.model.Choice;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Policy {@code projected}: the rank with the earliest expected first token, by a model that is
 * fitted while it routes; matches as for {@code cost}. Stateless.
 */
public final class ProjectedFleetProvider implements FleetRouterProvider {

  private static final String OMITTED = "omitted_term";

  /** Makes the provider. */
  public ProjectedFleetProvider() {}

  @Override
  public String name() {
    return "projected";
  }

  @Override
  public List<String> keys() {
    return Stream.concat(CostSettings.PROJECTED_KEYS.stream(), Stream.of(OMITTED)).toList();
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
  public boolean readsForwardPasses() {
    return true;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    String omitted = new RouterArgs(name(), args, keys()).text(OMITTED, "");
    if (!omitted.isEmpty()) {
      Choice.named(
          OMITTED, ProjectedSelector.TERMS.toArray(new String[0]), Function.identity(), omitted);
    }
    Map<String, Object> others = new HashMap<>(args);
    others.remove(OMITTED);
    CostSettings settings = CostSettings.projected(name(), others);
    PlacementLedger ledger = new PlacementLedger(setup);
    return new CostRouter(
        name(),
        settings.index(setup),
        new ProjectedSelector(ledger, omitted),
        ledger,
        settings.options(),
        hitRate -> {},
        setup);
  }
}
