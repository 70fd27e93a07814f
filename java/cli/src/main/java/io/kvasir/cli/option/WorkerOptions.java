package io.kvasir.cli.option;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.execute.CapacityPolicy;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.hash.HashFormat;
import io.kvasir.simulator.replay.Measures;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.timing.StepTiming;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of a worker. Where TensorRT-LLM has an option, its name is used. */
@Heading("Ranks of a worker")
public final class WorkerOptions {

  private static final String STEP_TIMING = "--step-timing";
  private static final int MAX_RANKS = 4096;
  private static final int MAX_BLOCK_TOKENS = 1 << 16;
  private static final int MAX_REQUESTS = 1 << 20;

  @Option(
      names = STEP_TIMING,
      paramLabel = "FILE",
      order = 93,
      description =
          "Timing model of a step: a JSON object with prefill_quadratic, prefill_linear,"
              + " prefill_constant_ms, decode_quadratic, decode_linear, decode_constant_ms,"
              + " decode_floor_ms and decode_kv_tokens (default: that of Dynamo's mocker).")
  private @Nullable String stepTiming;

  @Option(
      names = LlmApiFile.OPTION,
      paramLabel = "FILE",
      order = 94,
      description =
          "TensorRT-LLM's YAML file of the LLM API: sizes, scheduler and attention_dp_config of a"
              + " worker; --config overrides it, and other keys are listed (default: none).")
  @SuppressWarnings("unused") // read with the settings
  private @Nullable String llmApi;

  @Option(
      names = {"--ranks", "--dp"},
      paramLabel = "N",
      defaultValue = "8",
      order = 40,
      description = "Number of ranks of a worker (default: ${DEFAULT-VALUE}).")
  private String ranks;

  @Option(
      names = "--router",
      paramLabel = "NAME[,NAME]",
      completionCandidates = Choices.AdpRouters.class,
      order = 41,
      description =
          "ADP routers to run: ${COMPLETION-CANDIDATES}. Several are"
              + " compared (default: the router enabled below, else default,kv_cache_aware).")
  private @Nullable String router;

  @Option(
      names = "--pool-tokens",
      paramLabel = "N",
      defaultValue = "200000",
      order = 42,
      description = "Tokens of KV in the pool of a rank (default: ${DEFAULT-VALUE}).")
  private String poolTokens;

  @Option(
      names = "--tokens-per-block",
      paramLabel = "N",
      defaultValue = "32",
      order = 43,
      description = "Tokens in a block (default: ${DEFAULT-VALUE}).")
  private String tokensPerBlock;

  @Option(
      names = "--hash-format",
      paramLabel = "NAME",
      completionCandidates = Choices.HashFormats.class,
      defaultValue = "kvasir",
      order = 44,
      description = "Hash format of blocks: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private String hashFormat;

  @Option(
      names = "--enable-block-reuse",
      paramLabel = "BOOL",
      completionCandidates = Choices.Booleans.class,
      defaultValue = "true",
      order = 45,
      description = "Reuse computed blocks for other requests (default: ${DEFAULT-VALUE}).")
  private String enableBlockReuse;

  @Option(
      names = "--max-num-tokens",
      paramLabel = "N",
      defaultValue = "8192",
      order = 46,
      description = "Most tokens that a rank computes in one step (default: ${DEFAULT-VALUE}).")
  private String tokenBudget;

  @Option(
      names = "--max-active-requests",
      paramLabel = "N",
      defaultValue = "256",
      order = 47,
      description = "Most requests that are active on a rank (default: ${DEFAULT-VALUE}).")
  private String maxActiveRequests;

  @Option(
      names = "--capacity-scheduler-policy",
      paramLabel = "NAME",
      completionCandidates = Choices.CapacityPolicies.class,
      defaultValue = "guaranteed_no_evict",
      order = 48,
      description =
          "Policy for admitting requests: ${COMPLETION-CANDIDATES}"
              + " (default: ${DEFAULT-VALUE}).")
  private String capacityPolicy;

  @Option(
      names = "--waiting-queue-policy",
      paramLabel = "NAME",
      completionCandidates = Choices.QueuePolicies.class,
      defaultValue = "fcfs",
      order = 49,
      description =
          "Order of the waiting queue: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private String waitingQueuePolicy;

  @Mixin private AttentionDpOptions attentionDp;

  WorkerOptions() {}

  /**
   * {@return the ADP routers of {@code --router}, in order; without it, the enabled router, or else
   * the two default routers}
   *
   * @throws UsageException if a value is not allowed
   */
  public List<AdpRouterKind> routers() {
    AttentionDpConfig config = attentionDp.config(executor().maxActiveRequests());
    if (router == null && (config.enableKvCacheAwareRouting() || config.conversationAffinity())) {
      return List.of(config.router(executor().enableBlockReuse()));
    }
    return router == null
        ? List.of(AdpRouterKind.DEFAULT, AdpRouterKind.KV_CACHE_AWARE)
        : routers(router);
  }

  /** {@return whether {@code --router} is given} */
  public boolean namesRouters() {
    return router != null;
  }

  /**
   * {@return ADP routers, in order}
   *
   * @param names their names, separated by commas
   * @throws UsageException if a name is unknown or repeated
   */
  public static List<AdpRouterKind> routers(String names) {
    List<AdpRouterKind> kinds = List.of(AdpRouterKind.values());
    return Values.list(
        "--router", names, name -> Values.choice("--router", name, kinds, AdpRouterKind::id));
  }

  /** Number of ranks, at most some maximum. */
  int ranks(int maximum) {
    return Values.integer("--ranks", ranks, 1, maximum);
  }

  /**
   * {@return the settings of a worker}
   *
   * @param kind its ADP router
   * @throws UsageException if a value is not allowed
   */
  public ReplaySettings settings(AdpRouterKind kind) {
    int blockTokens = Values.integer("--tokens-per-block", tokensPerBlock, 1, MAX_BLOCK_TOKENS);
    return new ReplaySettings(
        ranks(MAX_RANKS),
        new ReplaySettings.Pool(
            Values.integer("--pool-tokens", poolTokens, blockTokens, Integer.MAX_VALUE),
            blockTokens,
            Values.choice(
                "--hash-format", hashFormat, List.of(HashFormat.values()), HashFormat::id)),
        new ReplaySettings.Routing(
            kind,
            attentionDp.config(executor().maxActiveRequests()),
            Values.choice(
                "--waiting-queue-policy",
                waitingQueuePolicy,
                List.of(WaitingQueuePolicy.values()),
                WaitingQueuePolicy::id)),
        executor(),
        stepTiming == null
            ? StepTiming.DEFAULT
            : StepTimingFile.read(STEP_TIMING, Values.path(STEP_TIMING, stepTiming)),
        ReplayMode.AGGREGATED,
        Measures.NONE);
  }

  private ExecutorOptions executor() {
    return new ExecutorOptions(
        Values.integer("--max-num-tokens", tokenBudget, 1, Integer.MAX_VALUE),
        Values.integer("--max-active-requests", maxActiveRequests, 1, MAX_REQUESTS),
        Values.choice(
            "--capacity-scheduler-policy",
            capacityPolicy,
            Arrays.asList(CapacityPolicy.values()),
            CapacityPolicy::id),
        Values.flag("--enable-block-reuse", enableBlockReuse));
  }
}
