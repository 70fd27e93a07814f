package io.kvasir.cli.option;

import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.KvCacheRoutingOptions;
import io.kvasir.engine.adp.NewConversationPlacement;
import io.kvasir.engine.adp.ProjectedAdpRouter;
import java.util.List;
import java.util.function.Function;
import picocli.CommandLine.Mixin;

/** TensorRT-LLM's {@code attention_dp_config}: one option for each of its keys. */
@Heading(value = "TensorRT-LLM's attention_dp_config", block = Block.EMBEDDED)
final class AttentionDpOptions extends DeclaredOptions {

  @Mixin private KvCacheScoreOptions scores;

  private final Declared<Boolean> coldStartWarmup =
      flag("--kv-cache-routing-cold-start-warmup", "false")
          .candidates(Choices.Booleans.class)
          .help(53, "Send a request to every rank before reuse counts");

  private final Declared<Boolean> accountForInTransfer =
      flag("--kv-cache-routing-account-for-in-transfer", "true")
          .candidates(Choices.Booleans.class)
          .help(54, "Count requests whose KV is in transfer as load");

  private final Declared<Boolean> firstTurnRoundRobin =
      flag("--kv-cache-routing-first-turn-round-robin", "false")
          .candidates(Choices.Booleans.class)
          .help(55, "Place first turns of conversations round-robin");

  private final Declared<Integer> maxSessions =
      integer("--kv-cache-routing-max-sessions", "65536", 1, Integer.MAX_VALUE)
          .help(56, "Number of conversations to remember");

  private final Declared<NewConversationPlacement> newConversationPlacement =
      choice(
              "--kv-cache-routing-new-conv-placement",
              "round_robin",
              List.of(NewConversationPlacement.values()),
              NewConversationPlacement::id)
          .candidates(Choices.NewConversations.class)
          .help(57, "Placement of new conversations: ${COMPLETION-CANDIDATES}");

  private final Declared<Boolean> enableKvCacheAwareRouting =
      flag("--enable-kv-cache-aware-routing", "false")
          .candidates(Choices.Booleans.class)
          .help(58, "Without --router: run kv_cache_aware");

  private final Declared<Boolean> conversationAffinity =
      flag("--kv-cache-routing-conversation-affinity", "false")
          .candidates(Choices.Booleans.class)
          .help(59, "Without --router: run conversation");

  private final Declared<Boolean> dkvTokenLoad =
      flag("--dkv-token-load", "false")
          .candidates(Choices.Booleans.class)
          .help(59, "Router default counts only tokens that no rank holds");

  private final Declared<String> projectedOmittedTerm =
      option("--projected-omitted-term", "NAME", null, AttentionDpOptions::term)
          .help(
              59,
              "Term that router projected leaves out of its score, to see what it is"
                  + " worth (default: none).");

  private final Declared<Boolean> enableBalance =
      flag("--enable-balance", "false")
          .candidates(Choices.Booleans.class)
          .help(85, "Delay prefill while ranks are out of balance");

  private final Declared<Integer> timeoutIters =
      integer("--timeout-iters", "50", 0, Integer.MAX_VALUE)
          .help(86, "Iterations to delay prefill until all ranks have some");

  private final Declared<Integer> batchingWaitIters =
      integer("--batching-wait-iters", "10", 0, Integer.MAX_VALUE)
          .help(87, "Iterations to delay prefill for larger batches");

  private final Declared<String> minGenerationRequests =
      text("--adp-balance-min-generation-requests", "N", "0")
          .help(
              88,
              "If a rank decodes fewer requests, the next option replaces"
                  + " --timeout-iters; also TLLM_ADP_BALANCE_MIN_GENERATION_REQUESTS"
                  + " (default: ${DEFAULT-VALUE}, never).");

  private final Declared<String> lowOccupancyTimeoutIters =
      text("--adp-balance-low-occupancy-timeout-iters", "N", "0")
          .help(
              89,
              "Iterations to delay prefill in that case; also"
                  + " TLLM_ADP_BALANCE_LOW_OCCUPANCY_TIMEOUT_ITERS");

  /**
   * The configuration that the options describe.
   *
   * @param maxActiveRequests the most requests that are active on a rank
   */
  AttentionDpConfig config(int maxActiveRequests) {
    int timeout = timeoutIters.value();
    return new AttentionDpConfig(
        enableBalance.value(),
        timeout,
        batchingWaitIters.value(),
        Values.integer(
            "--adp-balance-min-generation-requests",
            minGenerationRequests.value(),
            0,
            maxActiveRequests),
        Values.integer(
            "--adp-balance-low-occupancy-timeout-iters",
            lowOccupancyTimeoutIters.value(),
            0,
            timeout),
        enableKvCacheAwareRouting.value(),
        conversationAffinity.value(),
        kvCacheRouting(),
        maxSessions.value(),
        newConversationPlacement.value(),
        dkvTokenLoad.value(),
        projectedOmittedTerm.orElse(""));
  }

  private static String term(String text) {
    return text.isBlank()
        ? ""
        : Values.choice(
            "--projected-omitted-term", text, ProjectedAdpRouter.TERMS, Function.identity());
  }

  private KvCacheRoutingOptions kvCacheRouting() {
    return scores.with(
        new KvCacheRoutingOptions(
            KvCacheRoutingOptions.DEFAULT.loadBalanceWeight(),
            KvCacheRoutingOptions.DEFAULT.matchRateThreshold(),
            KvCacheRoutingOptions.DEFAULT.fairShareMultiplier(),
            coldStartWarmup.value(),
            accountForInTransfer.value(),
            firstTurnRoundRobin.value()));
  }
}
