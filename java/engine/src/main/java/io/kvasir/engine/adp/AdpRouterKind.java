package io.kvasir.engine.adp;

import io.kvasir.model.Choice;
import java.util.Locale;

/** The routers there are, by the names used in configurations, options and reports. */
public enum AdpRouterKind {
  /** {@link DefaultAdpRouter}. */
  DEFAULT,
  /** {@link KvCacheAwareAdpRouter}. */
  KV_CACHE_AWARE,
  /** {@link ConversationAdpRouter}. */
  CONVERSATION,
  /** {@link ProjectedAdpRouter}. */
  PROJECTED;

  private static final int DEFAULT_MAX_NUM_TOKENS = 8192;

  /**
   * Finds a router by name.
   *
   * @param id its name, for example {@code kv_cache_aware}
   * @return the kind
   * @throws IllegalArgumentException listing the names there are, if this is none of them
   */
  public static AdpRouterKind named(String id) {
    return Choice.named("router", values(), AdpRouterKind::id, id);
  }

  /**
   * The router's name.
   *
   * @return for example {@code kv_cache_aware}
   */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Makes a router.
   *
   * @param ranks ranks of the worker, at least 1
   * @param config settings; routers that need none ignore them
   * @param demand what requests need of a pool; null if routers shall ignore occupancy
   * @param explain whether decisions carry the scores that were compared, at the cost of two arrays
   *     each
   * @return a new router
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public AdpRouter create(
      int ranks, AttentionDpConfig config, BlockDemand demand, boolean explain) {
    return create(ranks, config, demand, StepTiming.DEFAULT, DEFAULT_MAX_NUM_TOKENS, explain);
  }

  /**
   * Makes a router that knows how long ranks compute.
   *
   * @param ranks ranks of the worker, at least 1
   * @param config settings; routers that need none ignore them
   * @param demand what requests need of a pool; null if routers shall ignore occupancy
   * @param timing how long ranks compute; routers that project nothing ignore it
   * @param maxNumTokens tokens that a rank computes in one step, at least 1; likewise
   * @param explain whether decisions carry the scores that were compared
   * @return a new router
   * @throws IllegalArgumentException if {@code ranks} or {@code maxNumTokens} is below 1
   */
  public AdpRouter create(
      int ranks,
      AttentionDpConfig config,
      BlockDemand demand,
      StepTiming timing,
      int maxNumTokens,
      boolean explain) {
    return switch (this) {
      case DEFAULT -> new DefaultAdpRouter(ranks, demand);
      case KV_CACHE_AWARE ->
          new KvCacheAwareAdpRouter(ranks, config.kvCacheRouting(), demand, explain);
      case CONVERSATION ->
          new ConversationAdpRouter(
              ranks,
              config.kvCacheRouting().fairShareMultiplier(),
              config.maxSessions(),
              config.newConversationPlacement(),
              demand);
      case PROJECTED ->
          new ProjectedAdpRouter(
              ranks,
              timing,
              maxNumTokens,
              demand,
              config.kvCacheRouting().firstTurnRoundRobin(),
              explain);
    };
  }
}
