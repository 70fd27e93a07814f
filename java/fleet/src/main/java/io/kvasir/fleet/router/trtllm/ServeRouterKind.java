package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.model.Choice;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The serve routers there are, by the names used in configurations, options and reports. */
public enum ServeRouterKind {
  /** {@link RoundRobinRouter}; the default. */
  ROUND_ROBIN,
  /** {@link LoadBalancingRouter}. */
  LOAD_BALANCING,
  /** {@link KvCacheAwareRouter}. */
  KV_CACHE_AWARE,
  /** {@link ConversationRouter}. */
  CONVERSATION;

  /**
   * Environment variable that overrides {@code tokens_per_block} of every router that has it, as it
   * does in TensorRT-LLM.
   */
  public static final String TOKENS_PER_BLOCK_VARIABLE =
      "TRTLLM_KVCACHE_AWARE_ROUTER_HASH_TOKENS_PER_BLOCK";

  /**
   * The router's name.
   *
   * @return for example {@code load_balancing}
   */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Finds a router by name, in upper or lower case.
   *
   * @param id its name; null is {@code round_robin}
   * @return the kind
   * @throws IllegalArgumentException listing the names there are, if this is none of them
   */
  public static ServeRouterKind named(String id) {
    return id == null
        ? ROUND_ROBIN
        : Choice.named("router", values(), ServeRouterKind::id, id.toLowerCase(Locale.ROOT));
  }

  /**
   * The keys of this router's {@code args}.
   *
   * @return TensorRT-LLM's names
   */
  public List<String> keys() {
    return switch (this) {
      case ROUND_ROBIN -> List.of();
      case LOAD_BALANCING -> List.of("use_tokens");
      case KV_CACHE_AWARE ->
          List.of(
              "max_batch_size",
              "tokens_per_block",
              "load_weight",
              "load_cap",
              "track_routed_blocks",
              "max_sessions");
      case CONVERSATION ->
          List.of(
              "match_threshold",
              "tokens_per_block",
              "use_token_ids",
              "hash_skip_count",
              "max_sessions",
              "disagg_node_id");
    };
  }

  /**
   * Makes a router. The args are read, never changed.
   *
   * @param servers the servers it begins with
   * @param args settings as a JSON or YAML parser gives them; what is missing or null is the
   *     default
   * @param ports what the router asks of its surroundings
   * @return a new router
   * @throws IllegalArgumentException naming the key that is unknown or out of range and what is
   *     allowed
   */
  public ServeRouter create(List<String> servers, Map<String, ?> args, ServePorts ports) {
    RouterArgs checked = new RouterArgs(id(), args, keys());
    return switch (this) {
      case ROUND_ROBIN -> new RoundRobinRouter(servers);
      case LOAD_BALANCING -> new LoadBalancingRouter(servers, checked.flag("use_tokens", false));
      case KV_CACHE_AWARE -> new KvCacheAwareRouter(servers, kvCacheAware(checked, ports), ports);
      case CONVERSATION ->
          new ConversationRouter(servers, conversation(checked, ports), ports.tokenizer());
    };
  }

  private static KvCacheAwareRouterOptions kvCacheAware(RouterArgs args, ServePorts ports) {
    KvCacheAwareRouterOptions defaults = KvCacheAwareRouterOptions.DEFAULT;
    int configured = 0;
    if (args.has("tokens_per_block")) {
      configured = args.integer("tokens_per_block", 0);
      RouterArgs.requireAtLeast("tokens_per_block", configured, 1);
    }
    return new KvCacheAwareRouterOptions(
        args.integer("max_batch_size", defaults.maxBatchSize()),
        ports.tokensPerBlock(configured),
        args.number("load_weight", defaults.loadWeight()),
        args.number("load_cap", defaults.loadCap()),
        args.flag("track_routed_blocks", defaults.trackRoutedBlocks()),
        args.integer("max_sessions", defaults.maxSessions()));
  }

  private static ConversationRouterOptions conversation(RouterArgs args, ServePorts ports) {
    ConversationRouterOptions defaults = ConversationRouterOptions.DEFAULT;
    return new ConversationRouterOptions(
        args.number("match_threshold", defaults.matchThreshold()),
        ports.tokensPerBlock(args.integer("tokens_per_block", defaults.tokensPerBlock())),
        args.flag("use_token_ids", defaults.useTokenIds()),
        args.integer("hash_skip_count", defaults.hashSkipCount()),
        args.integer("max_sessions", defaults.maxSessions()),
        args.integer("disagg_node_id", defaults.disaggNodeId()));
  }
}
