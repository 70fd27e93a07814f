package io.kvasir.cli.option;

import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.KvCacheRoutingOptions;
import io.kvasir.engine.adp.NewConversationPlacement;
import java.util.List;
import picocli.CommandLine.Option;

/** TensorRT-LLM's {@code attention_dp_config}: one option for each of its keys. */
final class AttentionDpOptions {

  private static final double MOST_WEIGHT = 1e6;

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

  @Option(
      names = "--enable-balance",
      paramLabel = "BOOL",
      defaultValue = "false",
      order = 80,
      description = "Hold prefill back while ranks are out of balance (default: ${DEFAULT-VALUE}).")
  private String enableBalance;

  @Option(
      names = "--timeout-iters",
      paramLabel = "N",
      defaultValue = "50",
      order = 81,
      description =
          "Iterations to hold prefill back until all ranks have some (default: ${DEFAULT-VALUE}).")
  private String timeoutIters;

  @Option(
      names = "--batching-wait-iters",
      paramLabel = "N",
      defaultValue = "10",
      order = 82,
      description =
          "Iterations to hold prefill back for larger batches (default: ${DEFAULT-VALUE}).")
  private String batchingWaitIters;

  @Option(
      names = "--adp-balance-min-generation-requests",
      paramLabel = "N",
      defaultValue = "0",
      order = 83,
      description =
          "While a rank decodes fewer requests than this, the next option is the time limit; also"
              + " TLLM_ADP_BALANCE_MIN_GENERATION_REQUESTS (default: ${DEFAULT-VALUE}, never).")
  private String minGenerationRequests;

  @Option(
      names = "--adp-balance-low-occupancy-timeout-iters",
      paramLabel = "N",
      defaultValue = "0",
      order = 84,
      description =
          "Iterations to hold prefill back then; also TLLM_ADP_BALANCE_LOW_OCCUPANCY_TIMEOUT_ITERS"
              + " (default: ${DEFAULT-VALUE}).")
  private String lowOccupancyTimeoutIters;

  /**
   * What the options say.
   *
   * @param maxActiveRequests requests that a rank holds at most
   */
  AttentionDpConfig config(int maxActiveRequests) {
    int timeout = Values.integer("--timeout-iters", timeoutIters, 0, Integer.MAX_VALUE);
    return new AttentionDpConfig(
        Values.flag("--enable-balance", enableBalance),
        timeout,
        Values.integer("--batching-wait-iters", batchingWaitIters, 0, Integer.MAX_VALUE),
        Values.integer(
            "--adp-balance-min-generation-requests", minGenerationRequests, 0, maxActiveRequests),
        Values.integer(
            "--adp-balance-low-occupancy-timeout-iters", lowOccupancyTimeoutIters, 0, timeout),
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
