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
   * {@return the policy's name in options and reports, in lower case, for example {@code
   * kv_cache_aware}}
   */
  String name();

  /**
   * {@return the keys of its {@code args}, in the spelling of the product that the policy comes
   * from}
   */
  List<String> keys();

  /**
   * {@return whether its placements name a rank, not only a worker; false if {@link Placement#rank}
   * is always {@code ANY} of a worker}
   */
  boolean choosesRanks();

  /**
   * {@return whether its routers use block events; false if {@link FleetRouter#onBlocks} has no
   * effect}
   */
  boolean followsBlocks();

  /**
   * {@return whether its routers use polled metrics; false if {@link FleetRouter#onMetrics} has no
   * effect}
   */
  default boolean readsMetrics() {
    return false;
  }

  /**
   * {@return whether its routers learn from the steps that engines report; false if {@link
   * FleetRouter#onForwardPass} has no effect}
   */
  default boolean readsForwardPasses() {
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
