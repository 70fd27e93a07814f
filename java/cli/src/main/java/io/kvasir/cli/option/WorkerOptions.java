package io.kvasir.cli.option;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.execute.CapacityPolicy;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.hash.HashFormat;
import io.kvasir.simulator.replay.EngineDelays;
import io.kvasir.simulator.replay.Measures;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.replay.Sight;
import io.kvasir.timing.StepTiming;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of a worker. Where TensorRT-LLM has an option, its name is used. */
@Heading(value = "Ranks of a worker", block = Block.EMBEDDED)
public final class WorkerOptions extends DeclaredOptions {

  private static final int MAX_RANKS = 4096;
  private static final int MAX_BLOCK_TOKENS = 1 << 16;
  private static final int MAX_REQUESTS = 1 << 20;

  private final Declared<StepTiming> stepTiming =
      option(
              StepTimingFile.OPTION,
              StepTimingFile.LABEL,
              null,
              text -> StepTimingFile.named(StepTimingFile.OPTION, text))
          .help(
              93,
              "Timing model of a step: "
                  + StepTimingFile.NAMES
                  + ", or a JSON object with prefill_quadratic, prefill_linear,"
                  + " prefill_constant_ms, decode_quadratic, decode_linear, decode_constant_ms,"
                  + " decode_floor_ms, decode_kv_tokens and others (default: that of Dynamo's mocker).");

  @Option(
      names = LlmApiFile.OPTION,
      paramLabel = "FILE",
      order = 94,
      description =
          "TensorRT-LLM's YAML file of the LLM API: sizes, scheduler and attention_dp_config of a"
              + " worker; --config overrides it, and other keys are listed (default: none).")
  @SuppressWarnings("unused") // read with the settings
  private @Nullable String llmApi;

  private final Declared<String> ranks =
      text("--ranks", "N", "8").names("--ranks", "--dp").help(40, "Number of ranks of a worker");

  private final Declared<String> router =
      text("--router", "NAME[,NAME]", null)
          .candidates(Choices.AdpRouters.class)
          .closed()
          .help(
              41,
              "ADP routers to run: ${COMPLETION-CANDIDATES}. Several are compared"
                  + " (default: the router enabled below, else default,kv_cache_aware).");

  private final Declared<String> poolTokens =
      text("--pool-tokens", "N", "200000").help(42, "Tokens of KV in the pool of a rank");

  private final Declared<Integer> tokensPerBlock =
      integer("--tokens-per-block", "32", 1, MAX_BLOCK_TOKENS).help(43, "Tokens in a block");

  private final Declared<String> groups =
      text(GroupList.OPTION, GroupList.LABEL, PoolGroup.FULL).help(43, GroupList.HELP);

  private final Declared<HashFormat> hashFormat =
      choice("--hash-format", "kvasir", List.of(HashFormat.values()), HashFormat::id)
          .candidates(Choices.HashFormats.class)
          .help(44, "Hash format of blocks: ${COMPLETION-CANDIDATES}");

  private final Declared<Boolean> enableBlockReuse =
      flag("--enable-block-reuse", "true")
          .candidates(Choices.Booleans.class)
          .help(45, "Reuse computed blocks for other requests");

  private final Declared<Integer> tokenBudget =
      integer("--max-num-tokens", "8192", 1, Integer.MAX_VALUE)
          .help(46, "Most tokens that a rank computes in one step");

  private final Declared<Integer> maxActiveRequests =
      integer("--max-active-requests", "256", 1, MAX_REQUESTS)
          .help(47, "Most requests that are active on a rank");

  private final Declared<CapacityPolicy> capacityPolicy =
      choice(
              "--capacity-scheduler-policy",
              "guaranteed_no_evict",
              Arrays.asList(CapacityPolicy.values()),
              CapacityPolicy::id)
          .candidates(Choices.CapacityPolicies.class)
          .help(48, "Policy for admitting requests: ${COMPLETION-CANDIDATES}");

  private final Declared<WaitingQueuePolicy> waitingQueuePolicy =
      choice(
              "--waiting-queue-policy",
              "fcfs",
              List.of(WaitingQueuePolicy.values()),
              WaitingQueuePolicy::id)
          .candidates(Choices.QueuePolicies.class)
          .help(49, "Order of the waiting queue: ${COMPLETION-CANDIDATES}");

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
    if (!router.isGiven()
        && (config.enableKvCacheAwareRouting() || config.conversationAffinity())) {
      return List.of(config.router(executor().enableBlockReuse()));
    }
    return !router.isGiven()
        ? List.of(AdpRouterKind.DEFAULT, AdpRouterKind.KV_CACHE_AWARE)
        : routers(router.value());
  }

  /** {@return whether {@code --router} is given} */
  public boolean namesRouters() {
    return router.isGiven();
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
    return Values.integer("--ranks", ranks.value(), 1, maximum);
  }

  /**
   * {@return the settings of a worker}
   *
   * @param kind its ADP router
   * @throws UsageException if a value is not allowed
   */
  public ReplaySettings settings(AdpRouterKind kind) {
    int blockTokens = tokensPerBlock.value();
    StepTiming timing = stepTiming.orElse(StepTiming.DEFAULT);
    return new ReplaySettings(
        ranks(MAX_RANKS),
        new ReplaySettings.Pool(
            Values.integer("--pool-tokens", poolTokens.value(), blockTokens, Integer.MAX_VALUE),
            blockTokens,
            hashFormat.value(),
            GroupList.read(groups.value(), blockTokens)),
        new ReplaySettings.Routing(
            kind, attentionDp.config(executor().maxActiveRequests()), waitingQueuePolicy.value()),
        executor(),
        timing,
        new ReplaySettings.Engines(timing, EngineDelays.NONE),
        ReplayMode.AGGREGATED,
        Measures.NONE,
        Sight.WHOLE);
  }

  private ExecutorOptions executor() {
    return new ExecutorOptions(
        tokenBudget.value(),
        maxActiveRequests.value(),
        capacityPolicy.value(),
        enableBlockReuse.value());
  }
}
