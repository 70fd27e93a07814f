package io.kvasir.gateway.disagg;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.cost.CostSettings;
import io.kvasir.fleet.router.cost.Ties;
import java.util.HashMap;
import java.util.Map;

/**
 * The router of a fleet and its settings. Immutable.
 *
 * @param name the fleet router's name, or {@link #AUTO}
 * @param args its settings
 */
public record RouterChoice(String name, Map<String, Object> args) {

  /** Policy {@code projected} where engines publish block events, else {@code affinity}. */
  public static final String AUTO = "auto";

  /** Copies the map. */
  public RouterChoice {
    args = Map.copyOf(args);
  }

  /**
   * {@return the policy of a fleet}
   *
   * @param publishes whether its engines publish block events
   * @throws IllegalArgumentException if the router is unknown
   */
  public FleetRouterProvider policy(boolean publishes) {
    String automatic = publishes ? FleetRouterKind.PROJECTED : FleetRouterKind.AFFINITY;
    return FleetRouterKind.named(name.equals(AUTO) ? automatic : name);
  }

  /**
   * {@return the settings of a policy; prompts that no rank holds are spread over the ranks in
   * turn, unless the settings say otherwise}
   *
   * @param policy the policy
   */
  public Map<String, Object> argsOf(FleetRouterProvider policy) {
    Map<String, Object> all = new HashMap<>(args);
    if (policy.keys().contains(CostSettings.TIES)) {
      all.putIfAbsent(CostSettings.TIES, Ties.IN_TURN.id());
    }
    return all;
  }
}
