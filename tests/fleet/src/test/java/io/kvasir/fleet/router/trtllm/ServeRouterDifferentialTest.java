package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each router against its oracle on random histories. {@code -Dkvasir.test.cases=100000} makes the
 * run longer, {@code -Dkvasir.test.seed=N} repeats one.
 */
class ServeRouterDifferentialTest {

  private static final int CASES = Integer.getInteger("kvasir.test.cases", 5_000);
  private static final long SEED = Long.getLong("kvasir.test.seed", 1);

  @ParameterizedTest
  @EnumSource
  void choosesLikeTheOracle(ServeRouterKind kind) {
    int choices = 0;
    for (long seed = SEED; choices < CASES; seed++) {
      choices += history(kind, seed).run();
    }
    assertThat(choices).isGreaterThanOrEqualTo(CASES);
  }

  private static RandomServeRun history(ServeRouterKind kind, long seed) {
    SplittableRandom random = new SplittableRandom(~seed);
    List<String> none = List.of();
    RandomServeRun run =
        switch (kind) {
          case ROUND_ROBIN ->
              new RandomServeRun(seed, new RoundRobinRouter(none), new ServeOracle.RoundRobin());
          case LOAD_BALANCING -> {
            boolean useTokens = random.nextBoolean();
            yield new RandomServeRun(
                seed,
                new LoadBalancingRouter(none, useTokens),
                new ServeOracle.LoadBalancing(useTokens));
          }
          case KV_CACHE_AWARE -> {
            KvCacheAwareRouterOptions options =
                new KvCacheAwareRouterOptions(
                    1 + random.nextInt(5),
                    1 + random.nextInt(4),
                    random.nextInt(5) * 0.25,
                    random.nextBoolean() ? Double.POSITIVE_INFINITY : random.nextDouble(),
                    random.nextBoolean(),
                    1 + random.nextInt(5));
            yield new RandomServeRun(
                seed,
                new KvCacheAwareRouter(none, options, ServePorts.NONE),
                new ServeOracle.KvCacheAware(options));
          }
          case CONVERSATION -> {
            ConversationRouterOptions options =
                new ConversationRouterOptions(
                    random.nextInt(9) / 8.0,
                    1 + random.nextInt(4),
                    random.nextBoolean(),
                    random.nextInt(3),
                    1 + random.nextInt(8),
                    0);
            yield new RandomServeRun(
                seed,
                new ConversationRouter(none, options, Tokenizer.CODE_POINTS),
                new ServeOracle.Conversation(options));
          }
        };
    return run;
  }
}
