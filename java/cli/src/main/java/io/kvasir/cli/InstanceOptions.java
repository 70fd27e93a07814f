package io.kvasir.cli;

import io.kvasir.execute.CapacityPolicy;
import io.kvasir.execute.ExecutorOptions;
import io.kvasir.execute.QueuePolicy;
import io.kvasir.hash.HashFormat;
import io.kvasir.rank.StepTiming;
import io.kvasir.route.AdpRouterKind;
import io.kvasir.route.AttentionDpConfig;
import io.kvasir.route.KvCacheRoutingOptions;
import io.kvasir.route.NewConversationPlacement;
import io.kvasir.simulator.replay.ReplaySettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of the instance whose ranks serve. Names are TensorRT-LLM's where it has them. */
final class InstanceOptions {

  private static final int MOST_RANKS = 4096;
  private static final int MOST_BLOCK_TOKENS = 1 << 16;
  private static final int MOST_REQUESTS = 1 << 20;
  private static final double MOST_WEIGHT = 1e6;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      defaultValue = "8",
      order = 40,
      description = "Ranks of the instance (default: ${DEFAULT-VALUE}).")
  private String ranks;

  @Option(
      names = "--router",
      paramLabel = "NAME[,NAME]",
      order = 41,
      description =
          "Who places requests: default, kv_cache_aware, conversation, projected. Several are"
              + " compared"
              + " (default: what is enabled below, else default,kv_cache_aware).")
  private String router;

  @Option(
      names = "--pool-tokens",
      paramLabel = "N",
      defaultValue = "200000",
      order = 42,
      description = "Tokens of KV that a rank's pool holds (default: ${DEFAULT-VALUE}).")
  private String poolTokens;

  @Option(
      names = "--tokens-per-block",
      paramLabel = "N",
      defaultValue = "32",
      order = 43,
      description = "Tokens of a block (default: ${DEFAULT-VALUE}).")
  private String tokensPerBlock;

  @Option(
      names = "--hash-format",
      paramLabel = "NAME",
      defaultValue = "kvasir",
      order = 44,
      description = "How blocks are named: kvasir, dynamo, trtllm-v1 (default: ${DEFAULT-VALUE}).")
  private String hashFormat;

  @Option(
      names = "--enable-block-reuse",
      paramLabel = "BOOL",
      defaultValue = "true",
      order = 45,
      description = "Whether requests share computed blocks (default: ${DEFAULT-VALUE}).")
  private String enableBlockReuse;

  @Option(
      names = "--max-num-tokens",
      paramLabel = "N",
      defaultValue = "8192",
      order = 46,
      description = "Tokens that a rank computes in one step (default: ${DEFAULT-VALUE}).")
  private String tokenBudget;

  @Option(
      names = "--max-active-requests",
      paramLabel = "N",
      defaultValue = "256",
      order = 47,
      description = "Requests that a rank holds at most (default: ${DEFAULT-VALUE}).")
  private String maxActiveRequests;

  @Option(
      names = "--capacity-scheduler-policy",
      paramLabel = "NAME",
      defaultValue = "guaranteed_no_evict",
      order = 48,
      description =
          "How requests share blocks: guaranteed_no_evict, max_utilization"
              + " (default: ${DEFAULT-VALUE}).")
  private String capacityPolicy;

  @Option(
      names = "--waiting-queue-policy",
      paramLabel = "NAME",
      defaultValue = "fcfs",
      order = 49,
      description = "Order of the waiting queue: fcfs, priority (default: ${DEFAULT-VALUE}).")
  private String waitingQueuePolicy;

  @Option(
      names = "--kv-cache-routing-load-balance-weight",
      paramLabel = "X",
      defaultValue = "1.0",
      order = 50,
      description = "How much load counts against reuse (default: ${DEFAULT-VALUE}).")
  private String loadBalanceWeight;

  @Option(
      names = "--kv-cache-routing-match-rate-threshold",
      paramLabel = "X",
      defaultValue = "0.1",
      order = 51,
      description =
          "Share of a prompt that must be held before reuse counts (default: ${DEFAULT-VALUE}).")
  private String matchRateThreshold;

  @Option(
      names = "--kv-cache-routing-fair-share-multiplier",
      paramLabel = "X",
      defaultValue = "2.0",
      order = 52,
      description =
          "How far above its fair share of requests a rank may go (default: ${DEFAULT-VALUE}).")
  private String fairShareMultiplier;

  @Option(
      names = "--kv-cache-routing-cold-start-warmup",
      paramLabel = "BOOL",
      defaultValue = "false",
      order = 53,
      description = "Give every rank a request before reuse decides (default: ${DEFAULT-VALUE}).")
  private String coldStartWarmup;

  @Option(
      names = "--kv-cache-routing-account-for-in-transfer",
      paramLabel = "BOOL",
      defaultValue = "true",
      order = 54,
      description = "Count requests whose KV is being sent as load (default: ${DEFAULT-VALUE}).")
  private String accountForInTransfer;

  @Option(
      names = "--kv-cache-routing-first-turn-round-robin",
      paramLabel = "BOOL",
      defaultValue = "false",
      order = 55,
      description = "Deal first turns of conversations out in turn (default: ${DEFAULT-VALUE}).")
  private String firstTurnRoundRobin;

  @Option(
      names = "--kv-cache-routing-max-sessions",
      paramLabel = "N",
      defaultValue = "65536",
      order = 56,
      description = "Conversations that are remembered (default: ${DEFAULT-VALUE}).")
  private String maxSessions;

  @Option(
      names = "--kv-cache-routing-new-conv-placement",
      paramLabel = "NAME",
      defaultValue = "round_robin",
      order = 57,
      description =
          "Where new conversations go: round_robin, least_queued, least_tokens"
              + " (default: ${DEFAULT-VALUE}).")
  private String newConversationPlacement;

  @Option(
      names = "--enable-kv-cache-aware-routing",
      paramLabel = "BOOL",
      defaultValue = "false",
      order = 58,
      description = "Where --router is not given: kv_cache_aware (default: ${DEFAULT-VALUE}).")
  private String enableKvCacheAwareRouting;

  @Option(
      names = "--kv-cache-routing-conversation-affinity",
      paramLabel = "BOOL",
      defaultValue = "false",
      order = 59,
      description = "Where --router is not given: conversation (default: ${DEFAULT-VALUE}).")
  private String conversationAffinity;

  /** The routers named, in order; if none is, the one that is enabled, or two to be compared. */
  List<AdpRouterKind> routers() {
    AttentionDpConfig config = routing();
    if (router == null && (config.enableKvCacheAwareRouting() || config.conversationAffinity())) {
      return List.of(config.router(executor().enableBlockReuse()));
    }
    return router == null
        ? List.of(AdpRouterKind.DEFAULT, AdpRouterKind.KV_CACHE_AWARE)
        : namedRouters();
  }

  private List<AdpRouterKind> namedRouters() {
    List<AdpRouterKind> kinds = new ArrayList<>();
    for (String name : router.split(",", -1)) {
      AdpRouterKind kind =
          Values.choice("--router", name, List.of(AdpRouterKind.values()), AdpRouterKind::id);
      if (kinds.contains(kind)) {
        throw new UsageException("--router", "must name each router once, not '" + router + "'");
      }
      kinds.add(kind);
    }
    return kinds;
  }

  /** The instance under one router. */
  ReplaySettings settings(AdpRouterKind kind) {
    int blockTokens = Values.integer("--tokens-per-block", tokensPerBlock, 1, MOST_BLOCK_TOKENS);
    return new ReplaySettings(
        Values.integer("--ranks", ranks, 1, MOST_RANKS),
        Values.integer("--pool-tokens", poolTokens, blockTokens, Integer.MAX_VALUE),
        blockTokens,
        Values.choice("--hash-format", hashFormat, List.of(HashFormat.values()), HashFormat::id),
        kind,
        routing(),
        executor(),
        Values.choice(
            "--waiting-queue-policy",
            waitingQueuePolicy,
            List.of(QueuePolicy.values()),
            QueuePolicy::id),
        StepTiming.DEFAULT);
  }

  private ExecutorOptions executor() {
    return new ExecutorOptions(
        Values.integer("--max-num-tokens", tokenBudget, 1, Integer.MAX_VALUE),
        Values.integer("--max-active-requests", maxActiveRequests, 1, MOST_REQUESTS),
        Values.choice(
            "--capacity-scheduler-policy",
            capacityPolicy,
            Arrays.asList(CapacityPolicy.values()),
            CapacityPolicy::id),
        Values.flag("--enable-block-reuse", enableBlockReuse));
  }

  private AttentionDpConfig routing() {
    AttentionDpConfig defaults = AttentionDpConfig.DEFAULT;
    return new AttentionDpConfig(
        defaults.enableBalance(),
        defaults.timeoutIters(),
        defaults.batchingWaitIters(),
        Values.flag("--enable-kv-cache-aware-routing", enableKvCacheAwareRouting),
        Values.flag("--kv-cache-routing-conversation-affinity", conversationAffinity),
        kvCacheRouting(),
        Values.integer("--kv-cache-routing-max-sessions", maxSessions, 1, Integer.MAX_VALUE),
        Values.choice(
            "--kv-cache-routing-new-conv-placement",
            newConversationPlacement,
            List.of(NewConversationPlacement.values()),
            NewConversationPlacement::id));
  }

  private KvCacheRoutingOptions kvCacheRouting() {
    return new KvCacheRoutingOptions(
        Values.number("--kv-cache-routing-load-balance-weight", loadBalanceWeight, 0, MOST_WEIGHT),
        Values.number("--kv-cache-routing-match-rate-threshold", matchRateThreshold, 0, 1),
        Values.number(
            "--kv-cache-routing-fair-share-multiplier", fairShareMultiplier, 1, MOST_WEIGHT),
        Values.flag("--kv-cache-routing-cold-start-warmup", coldStartWarmup),
        Values.flag("--kv-cache-routing-account-for-in-transfer", accountForInTransfer),
        Values.flag("--kv-cache-routing-first-turn-round-robin", firstTurnRoundRobin));
  }
}
