package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.model.Checks;
import java.util.List;
import java.util.Map;

/** Makes {@link KvCacheAwareFleetRouter}s that poll no events. Stateless. */
public final class KvCacheAwareFleetProvider implements FleetRouterProvider {

  /** For the service loader. */
  public KvCacheAwareFleetProvider() {}

  @Override
  public String name() {
    return KvCacheAwareFleetRouter.NAME;
  }

  @Override
  public List<String> keys() {
    return List.of(
        "max_batch_size",
        "tokens_per_block",
        "load_weight",
        "load_cap",
        "track_routed_blocks",
        "max_sessions");
  }

  @Override
  public boolean choosesRanks() {
    return false;
  }

  @Override
  public boolean followsBlocks() {
    return true;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    return new KvCacheAwareFleetRouter(
        options(new RouterArgs(name(), args, keys()), setup.environment()));
  }

  private static KvCacheAwareRouterOptions options(
      RouterArgs args, Map<String, String> environment) {
    KvCacheAwareRouterOptions defaults = KvCacheAwareRouterOptions.DEFAULT;
    int configured = 0;
    if (args.has("tokens_per_block")) {
      configured = args.integer("tokens_per_block", 0);
      Checks.atLeast("tokens_per_block", configured, 1);
    }
    return new KvCacheAwareRouterOptions(
        args.integer("max_batch_size", defaults.maxBatchSize()),
        TokensPerBlockVariable.orElse(environment, configured),
        args.number("load_weight", defaults.loadWeight()),
        args.number("load_cap", defaults.loadCap()),
        args.flag("track_routed_blocks", defaults.trackRoutedBlocks()),
        args.integer("max_sessions", defaults.maxSessions()));
  }
}
