package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.BlockDemand;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.testing.execute.KvStampEngine;
import io.kvasir.testing.harness.LongRuns;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Outputs must not depend on reuse, on pauses, on other requests that are cancelled, or on where
 * and how a request ran.
 */
class BlockReuseTest {

  static final int LAYERS = 2;
  static final int VOCABULARY = 1 << 20;
  static final int CONVERSATIONS = 16;
  private static final int SEEDS = LongRuns.cases(50, 150);

  @Test
  void outputsAreTheSameHoweverARequestRan() {
    long reused = 0;
    int pauses = 0;
    int cancels = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      Map<Long, int[]> expected = outputsWithoutReuse(seed);
      Random random = new Random(seed);
      Conversations conversations = new Conversations(seed, CONVERSATIONS).cancelSome(random);
      TestInstance.Setup setup = randomSetup(random);
      String at = "seed " + seed + ": " + setup;
      try (TestInstance instance = setup.build()) {
        Map<Long, int[]> outputs = conversations.run(instance);
        outputs.forEach(
            (id, output) ->
                assertThat(output).as(at + ", request " + id).isEqualTo(expected.get(id)));
        Set<Long> ended = new HashSet<>(outputs.keySet());
        ended.addAll(instance.recorder.cancelled);
        assertThat(ended).as(at).isEqualTo(conversations.submittedIds());
        assertThat(instance.recorder.rejected).as(at).isEmpty();
        assertThat(instance.recorder.resumes).as(at).isLessThanOrEqualTo(instance.recorder.pauses);
        instance.assertNothingHeld();
        reused += instance.recorder.cachedTokens;
        pauses += instance.recorder.pauses;
        cancels += instance.recorder.cancelled.size();
      } catch (RuntimeException e) {
        throw new AssertionError(at, e);
      }
    }
    assertThat(reused).as("the workloads must reuse").isGreaterThan(1000);
    assertThat(pauses).as("the workloads must pause").isGreaterThan(100);
    assertThat(cancels).as("the workloads must cancel").isGreaterThan(20);
  }

  @Test
  void aStaleBlockChangesOutputs() {
    assertThat(wrongOutputs(pool -> pool)).isZero();
    assertThat(wrongOutputs(StaleBlockPool::new)).isPositive();
  }

  /** How many outputs differ from the right ones when pools are wrapped like this. */
  private static int wrongOutputs(UnaryOperator<BlockPool> wrapper) {
    int wrong = 0;
    for (long seed = 0; seed < 5; seed++) {
      Map<Long, int[]> expected = outputsWithoutReuse(seed);
      try (TestInstance instance = stamping(2, 200, 4).wrapper(wrapper).build()) {
        for (Map.Entry<Long, int[]> output :
            new Conversations(seed, CONVERSATIONS).run(instance).entrySet()) {
          if (!java.util.Arrays.equals(output.getValue(), expected.get(output.getKey()))) {
            wrong++;
          }
        }
      }
    }
    return wrong;
  }

  /** The right outputs: one rank, whole prompts, nothing shared. */
  static Map<Long, int[]> outputsWithoutReuse(long seed) {
    try (TestInstance instance =
        stamping(1, 2000, 16).options(ExecutorOptions.DEFAULT.withBlockReuse(false)).build()) {
      Map<Long, int[]> outputs = new Conversations(seed, CONVERSATIONS).run(instance);
      assertThat(instance.recorder.cachedTokens).isZero();
      return new HashMap<>(outputs);
    }
  }

  /** Pools, routers, budgets and policies of any size and kind; outputs depend on none of it. */
  static TestInstance.Setup randomSetup(Random random) {
    return randomSetup(random, 1 + random.nextInt(3));
  }

  static TestInstance.Setup randomSetup(Random random, int ranks) {
    int tokensPerBlock = 1 + random.nextInt(8);
    int largest = Conversations.largestRequest(tokensPerBlock);
    int capacity = largest + random.nextInt(1 + largest * random.nextInt(4));
    boolean colliding = random.nextInt(3) == 0;
    return stamping(ranks, capacity, tokensPerBlock)
        .hasher(
            colliding
                ? new ChainHasher(tokensPerBlock, 5)
                : NativeBlockHasher.of(HashFormat.KVASIR, tokensPerBlock))
        .router(randomRouter(random, ranks))
        .queue(random.nextBoolean() ? WaitingQueuePolicy.FCFS : WaitingQueuePolicy.PRIORITY)
        .options(
            new ExecutorOptions(
                1 + random.nextInt(40),
                1 + random.nextInt(12),
                random.nextInt(3) == 0
                    ? CapacityPolicy.GUARANTEED_NO_EVICT
                    : CapacityPolicy.MAX_UTILIZATION,
                random.nextInt(5) > 0));
  }

  private static AdpRouter randomRouter(Random random, int ranks) {
    AdpRouterKind[] kinds = AdpRouterKind.values();
    int kind = random.nextInt(kinds.length + 1);
    return kind == kinds.length
        ? new SpreadRouter(random.nextLong())
        : kinds[kind].create(
            ranks,
            AttentionDpConfig.DEFAULT,
            random.nextBoolean() ? new BlockDemand(4, true) : null,
            false);
  }

  static TestInstance.Setup stamping(int ranks, int capacityBlocks, int tokensPerBlock) {
    return TestInstance.with(ranks, capacityBlocks, tokensPerBlock)
        .engines(pool -> new KvStampEngine(pool, LAYERS, VOCABULARY));
  }
}
