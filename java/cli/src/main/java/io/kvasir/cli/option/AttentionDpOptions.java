package io.kvasir.cli.option;

import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.KvCacheRoutingOptions;
import io.kvasir.engine.adp.NewConversationPlacement;
import io.kvasir.engine.adp.ProjectedAdpRouter;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** TensorRT-LLM's {@code attention_dp_config}: one option for each of its keys. */
@Heading("TensorRT-LLM's attention_dp_config")
final class AttentionDpOptions {

  private static final double MAX_WEIGHT = 1e6;

  @Option(
      names = "--kv-cache-routing-load-balance-weight",
      paramLabel = "X",
      defaultValue = "1.0",
      order = 50,
      description = "Weight of load relative to reuse (default: ${DEFAULT-VALUE}).")
  private String loadBalanceWeight;

  @Option(
      names = "--kv-cache-routing-match-rate-threshold",
      paramLabel = "X",
      defaultValue = "0.1",
      order = 51,
      description =
          "Share of a prompt that must match before reuse counts (default: ${DEFAULT-VALUE}).")
  private String matchRateThreshold;

  @Option(
      names = "--kv-cache-routing-fair-share-multiplier",
      paramLabel = "X",
      defaultValue = "2.0",
      order = 52,
      description =
          "Most requests of a rank, as a multiple of its fair share (default: ${DEFAULT-VALUE}).")
  private String fairShareMultiplier;

  @Option(
      names = "--kv-cache-routing-cold-start-warmup",
      paramLabel = "BOOL",
      completionCandidates = Choices.Booleans.class,
      defaultValue = "false",
      order = 53,
      description = "Send a request to every rank before reuse counts (default: ${DEFAULT-VALUE}).")
  private String coldStartWarmup;

  @Option(
      names = "--kv-cache-routing-account-for-in-transfer",
      paramLabel = "BOOL",
      completionCandidates = Choices.Booleans.class,
      defaultValue = "true",
      order = 54,
      description = "Count requests whose KV is in transfer as load (default: ${DEFAULT-VALUE}).")
  private String accountForInTransfer;

  @Option(
      names = "--kv-cache-routing-first-turn-round-robin",
      paramLabel = "BOOL",
      completionCandidates = Choices.Booleans.class,
      defaultValue = "false",
      order = 55,
      description = "Place first turns of conversations round-robin (default: ${DEFAULT-VALUE}).")
  private String firstTurnRoundRobin;

  @Option(
      names = "--kv-cache-routing-max-sessions",
      paramLabel = "N",
      defaultValue = "65536",
      order = 56,
      description = "Number of conversations to remember (default: ${DEFAULT-VALUE}).")
  private String maxSessions;

  @Option(
      names = "--kv-cache-routing-new-conv-placement",
      paramLabel = "NAME",
      completionCandidates = Choices.NewConversations.class,
      defaultValue = "round_robin",
      order = 57,
      description =
          "Placement of new conversations: ${COMPLETION-CANDIDATES}"
              + " (default: ${DEFAULT-VALUE}).")
  private String newConversationPlacement;

  @Option(
      names = "--enable-kv-cache-aware-routing",
      paramLabel = "BOOL",
      completionCandidates = Choices.Booleans.class,
      defaultValue = "false",
      order = 58,
      description = "Without --router: run kv_cache_aware (default: ${DEFAULT-VALUE}).")
  private String enableKvCacheAwareRouting;

  @Option(
      names = "--kv-cache-routing-conversation-affinity",
      paramLabel = "BOOL",
      completionCandidates = Choices.Booleans.class,
      defaultValue = "false",
      order = 59,
      description = "Without --router: run conversation (default: ${DEFAULT-VALUE}).")
  private String conversationAffinity;

  @Option(
      names = "--dkv-token-load",
      paramLabel = "BOOL",
      completionCandidates = Choices.Booleans.class,
      defaultValue = "false",
      order = 59,
      description =
          "Router default counts only tokens that no rank holds (default: ${DEFAULT-VALUE}).")
  private String dkvTokenLoad;

  @Option(
      names = "--projected-omitted-term",
      paramLabel = "NAME",
      order = 59,
      description =
          "Term that router projected leaves out of its score, to see what it is worth (default:"
              + " none).")
  private @Nullable String projectedOmittedTerm;

  @Option(
      names = "--enable-balance",
      paramLabel = "BOOL",
      completionCandidates = Choices.Booleans.class,
      defaultValue = "false",
      order = 85,
      description = "Delay prefill while ranks are out of balance (default: ${DEFAULT-VALUE}).")
  private String enableBalance;

  @Option(
      names = "--timeout-iters",
      paramLabel = "N",
      defaultValue = "50",
      order = 86,
      description =
          "Iterations to delay prefill until all ranks have some (default: ${DEFAULT-VALUE}).")
  private String timeoutIters;

  @Option(
      names = "--batching-wait-iters",
      paramLabel = "N",
      defaultValue = "10",
      order = 87,
      description = "Iterations to delay prefill for larger batches (default: ${DEFAULT-VALUE}).")
  private String batchingWaitIters;

  @Option(
      names = "--adp-balance-min-generation-requests",
      paramLabel = "N",
      defaultValue = "0",
      order = 88,
      description =
          "If a rank decodes fewer requests, the next option replaces --timeout-iters; also"
              + " TLLM_ADP_BALANCE_MIN_GENERATION_REQUESTS (default: ${DEFAULT-VALUE}, never).")
  private String minGenerationRequests;

  @Option(
      names = "--adp-balance-low-occupancy-timeout-iters",
      paramLabel = "N",
      defaultValue = "0",
      order = 89,
      description =
          "Iterations to delay prefill in that case; also"
              + " TLLM_ADP_BALANCE_LOW_OCCUPANCY_TIMEOUT_ITERS (default: ${DEFAULT-VALUE}).")
  private String lowOccupancyTimeoutIters;

  /**
   * The configuration that the options describe.
   *
   * @param maxActiveRequests the most requests that are active on a rank
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
            NewConversationPlacement::id),
        Values.flag("--dkv-token-load", dkvTokenLoad),
        projectedOmittedTerm == null || projectedOmittedTerm.isBlank()
            ? ""
            : Values.choice(
                "--projected-omitted-term",
                projectedOmittedTerm,
                ProjectedAdpRouter.TERMS,
                Function.identity()));
  }

  private KvCacheRoutingOptions kvCacheRouting() {
    return new KvCacheRoutingOptions(
        Values.number("--kv-cache-routing-load-balance-weight", loadBalanceWeight, 0, MAX_WEIGHT),
        Values.number("--kv-cache-routing-match-rate-threshold", matchRateThreshold, 0, 1),
        Values.number(
            "--kv-cache-routing-fair-share-multiplier", fairShareMultiplier, 1, MAX_WEIGHT),
        Values.flag("--kv-cache-routing-cold-start-warmup", coldStartWarmup),
        Values.flag("--kv-cache-routing-account-for-in-transfer", accountForInTransfer),
        Values.flag("--kv-cache-routing-first-turn-round-robin", firstTurnRoundRobin));
  }
}
