package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.WorkerRouter;
import io.kvasir.testing.harness.LongRuns;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each router against its oracle on random histories. {@code -Dkvasir.test.seed=N} repeats one. */
class WorkerRouterDifferentialTest {

  private static final int CASES = LongRuns.cases(2_000, 100_000);
  private static final long SEED = Long.getLong("kvasir.test.seed", 1);

  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "kv_cache_aware", "conversation"})
  void choosesLikeTheOracle(String policy) {
    int choices = 0;
    for (long seed = SEED; choices < CASES; seed++) {
      choices += history(policy, seed).run();
    }
    assertThat(choices).isGreaterThanOrEqualTo(CASES);
  }

  private static RandomWorkerRun run(
      long seed, String policy, Map<String, Object> args, WorkerOracle oracle) {
    WorkerRouter<?> router =
        (WorkerRouter<?>) FleetRouterKind.named(policy).create(args, FleetRouterSetup.of(1));
    return new RandomWorkerRun(seed, router, oracle);
  }

  private static RandomWorkerRun history(String policy, long seed) {
    SplittableRandom random = new SplittableRandom(~seed);
    switch (policy) {
      case "round_robin" -> {
        return run(seed, policy, Map.of(), new WorkerOracle.RoundRobin());
      }
      case "load_balancing" -> {
        boolean useTokens = random.nextBoolean();
        return run(
            seed,
            policy,
            Map.of("use_tokens", useTokens),
            new WorkerOracle.LoadBalancing(useTokens));
      }
      case "kv_cache_aware" -> {
        KvCacheAwareRouterOptions options =
            new KvCacheAwareRouterOptions(
                1 + random.nextInt(5),
                1 + random.nextInt(4),
                random.nextInt(5) * 0.25,
                random.nextBoolean() ? Double.POSITIVE_INFINITY : random.nextDouble(),
                random.nextBoolean(),
                1 + random.nextInt(5));
        return run(
            seed,
            policy,
            Map.of(
                "max_batch_size", options.maxBatchSize(),
                "tokens_per_block", options.tokensPerBlock(),
                "load_weight", options.loadWeight(),
                "load_cap", options.loadCap(),
                "track_routed_blocks", options.trackRoutedBlocks(),
                "max_sessions", options.maxSessions()),
            new WorkerOracle.KvCacheAware(options));
      }
      default -> {
        ConversationRouterOptions options =
            new ConversationRouterOptions(
                random.nextInt(9) / 8.0,
                1 + random.nextInt(4),
                random.nextBoolean(),
                random.nextInt(3),
                1 + random.nextInt(8),
                0);
        return run(
            seed,
            policy,
            Map.of(
                "match_threshold", options.matchThreshold(),
                "tokens_per_block", options.tokensPerBlock(),
                "use_token_ids", options.useTokenIds(),
                "hash_skip_count", options.hashSkipCount(),
                "max_sessions", options.maxSessions()),
            new WorkerOracle.Conversation(options));
      }
    }
  }
}
