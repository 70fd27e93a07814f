package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouterArgs;
import java.util.List;
import java.util.Map;

/** Makes {@link ConversationFleetRouter}s. Stateless. */
public final class ConversationFleetProvider implements FleetRouterProvider {

  /** For the service loader. */
  public ConversationFleetProvider() {}

  @Override
  public String name() {
    return ConversationFleetRouter.NAME;
  }

  @Override
  public List<String> keys() {
    return List.of(
        "match_threshold",
        "tokens_per_block",
        "use_token_ids",
        "hash_skip_count",
        "max_sessions",
        "disagg_node_id");
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
    return new ConversationFleetRouter(
        options(new RouterArgs(name(), args, keys()), setup.environment()));
  }

  private static ConversationRouterOptions options(
      RouterArgs args, Map<String, String> environment) {
    ConversationRouterOptions defaults = ConversationRouterOptions.DEFAULT;
    int tokensPerBlock = args.integer("tokens_per_block", defaults.tokensPerBlock());
    return new ConversationRouterOptions(
        args.number("match_threshold", defaults.matchThreshold()),
        TokensPerBlockVariable.orElse(environment, tokensPerBlock),
        args.flag("use_token_ids", defaults.useTokenIds()),
        args.integer("hash_skip_count", defaults.hashSkipCount()),
        args.integer("max_sessions", defaults.maxSessions()),
        args.integer("disagg_node_id", defaults.disaggNodeId()));
  }
}
