package io.kvasir.fleet.router;

import java.util.List;
import java.util.Map;

/** Makes {@link LeastLoaded} routers. Stateless. */
public final class LeastLoadedProvider implements FleetRouterProvider {

  /** For the service loader. */
  public LeastLoadedProvider() {}

  @Override
  public String name() {
    return LeastLoaded.NAME;
  }

  @Override
  public List<String> keys() {
    return List.of("use_tokens");
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
    return new LeastLoaded(new RouterArgs(name(), args, keys()).flag("use_tokens", false));
  }
}
