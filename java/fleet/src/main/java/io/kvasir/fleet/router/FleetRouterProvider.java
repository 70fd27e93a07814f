package io.kvasir.fleet.router;

import java.util.List;
import java.util.Map;

/**
 * Makes the routers of one policy. This is the place to plug in a policy of your own: implement the
 * interface, name the class in {@code META-INF/services/io.kvasir.fleet.router.FleetRouterProvider}
 * (in a named module: {@code provides}), and put it on the class path. {@link FleetRouterKind}
 * finds it, and {@code --fleet-router} and {@code kvasir route} accept its name.
 *
 * <p>Stateless; its routers share nothing.
 */
public interface FleetRouterProvider {

  /**
   * The policy's name in options and reports.
   *
   * @return for example {@code kv_cache_aware}; lower case
   */
  String name();

  /**
   * The keys of its {@code args}.
   *
   * @return the names in the spelling of the product that the policy comes from
   */
  List<String> keys();

  /**
   * Whether its placements name a rank, not only a worker.
   *
   * @return false if {@link Placement#rank} is always {@code ANY} of a worker
   */
  boolean choosesRanks();

  /**
   * Whether its routers use block events.
   *
   * @return false if {@link FleetRouter#onBlocks} has no effect
   */
  boolean followsBlocks();

  /**
   * Whether its routers use polled metrics.
   *
   * @return false if {@link FleetRouter#onMetrics} has no effect
   */
  default boolean readsMetrics() {
    return false;
  }

  /**
   * Makes a router without ranks.
   *
   * @param args settings as a JSON or YAML parser gives them; a missing or null value is the
   *     default; never changed
   * @param setup what the router needs from its surroundings
   * @return the router; the caller closes it
   * @throws IllegalArgumentException naming the key that is unknown or out of range and what is
   *     allowed
   */
  FleetRouter create(Map<String, ?> args, FleetRouterSetup setup);
}
