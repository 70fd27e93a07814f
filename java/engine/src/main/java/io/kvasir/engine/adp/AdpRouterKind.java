package io.kvasir.engine.adp;

import io.kvasir.model.Choice;
import io.kvasir.timing.StepTiming;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The available routers, by the names used in configurations, options and reports. */
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
   * @throws IllegalArgumentException listing the available names, if {@code id} is none of them
   */
  public static AdpRouterKind named(String id) {
    return Choice.named("router", values(), AdpRouterKind::id, id);
  }

  /** {@return the router's name, for example {@code kv_cache_aware}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Creates a router with the default step timing and token budget.
   *
   * @param ranks ranks of the worker, at least 1
   * @param config settings; ignored by routers that have none
   * @param demand blocks that a request needs; null to ignore occupancy
   * @param explain whether decisions carry the compared scores, at the cost of two arrays each
   * @return a new router
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public AdpRouter create(
      int ranks, AttentionDpConfig config, @Nullable BlockDemand demand, boolean explain) {
    return create(ranks, config, demand, StepTiming.DEFAULT, DEFAULT_MAX_NUM_TOKENS, explain);
  }

  /**
   * Creates a router.
   *
   * @param ranks ranks of the worker, at least 1
   * @param config settings; ignored by routers that have none
   * @param demand blocks that a request needs; null to ignore occupancy
   * @param timing time model of a step; ignored by routers that do not project times
   * @param maxNumTokens tokens that a rank computes in one step, at least 1; ignored by routers
   *     that do not project times
   * @param explain whether decisions carry the compared scores
   * @return a new router
   * @throws IllegalArgumentException if {@code ranks} or {@code maxNumTokens} is below 1
   */
  public AdpRouter create(
      int ranks,
      AttentionDpConfig config,
      @Nullable BlockDemand demand,
      StepTiming timing,
      int maxNumTokens,
      boolean explain) {
    return switch (this) {
      case DEFAULT -> new DefaultAdpRouter(ranks, config.dkvTokenLoad(), demand);
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
              config.projectedOmittedTerm(),
              explain);
    };
  }
}
