package io.kvasir.fleet.router;

import java.util.List;
import java.util.Map;

/** Makes {@link RoundRobin} routers. Stateless. */
public final class RoundRobinProvider implements FleetRouterProvider {

  /** For the service loader. */
  public RoundRobinProvider() {}

  @Override
  public String name() {
    return RoundRobin.NAME;
  }

  @Override
  public List<String> keys() {
    return List.of();
  }

  @Override
  public boolean choosesRanks() {
    return false;
  }

  @Override
  public boolean followsBlocks() {
    return false;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    new RouterArgs(name(), args, keys());
    return new RoundRobin();
  }
}
