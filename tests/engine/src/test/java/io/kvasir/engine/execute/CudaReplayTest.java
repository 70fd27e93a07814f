package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.BlockDemand;
import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.TestDevices;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.engine.pool.cuda.CudaPrefixMatcher;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Eight ranks on one device make of a workload what eight ranks on the host make of it. */
@Tag("device")
class CudaReplayTest {

  private static final int RANKS = 8;
  private static final int TOKENS_PER_BLOCK = 4;

  /** In the usual form, each two of the router, the policy and the size of pools occur together. */
  private static final long[] SEEDS =
      LongRuns.on() ? LongStream.range(0, 16).toArray() : new long[] {0, 3, 5, 6};

  /** Every decision and every event, and what the pools hold in the end. */
  private record Story(List<String> lines, List<Occupancy> pools, int pauses, long reused) {}

  @Test
  void everyDecisionAndEveryEventIsTheSame() {
    compare(0, instance -> {});
  }

  /** Two ranks are lost in mid-run, in different parts of a step. */
  @Test
  void requestsOfLostRanksEndInTheSameWay() {
    compare(
        2,
        instance -> {
          instance.fault(2).lose(Fault.Site.STEP, 20, new FatalDeviceException("gone", null));
          instance.fault(5).lose(Fault.Site.RELEASE, 2, new FatalDeviceException("gone", null));
        });
  }

  private static void compare(int lost, Consumer<TestInstance> faults) {
    int pauses = 0;
    long reused = 0;
    long evicted = 0;
    for (long seed : SEEDS) {
      Story expected;
      try (TestInstance instance = setup(seed).build()) {
        faults.accept(instance);
        expected = play(instance, seed);
        assertThat(instance.recorder.retired).as("seed %d", seed).hasSize(lost);
      }
      try (DeviceApi device = TestDevices.open(seed);
          TestInstance instance =
              setup(seed)
                  .pools(
                      shape -> CudaBlockPool.create(device, shape, 0),
                      pools ->
                          new CudaPrefixMatcher(
                              pools.stream().map(CudaBlockPool.class::cast).toList()))
                  .build()) {
        faults.accept(instance);
        Story story = play(instance, seed);
        String at = "seed " + seed + ": " + setup(seed);
        for (int i = 0; i < Math.min(story.lines.size(), expected.lines.size()); i++) {
          assertThat(story.lines.get(i)).as("%s, line %d", at, i).isEqualTo(expected.lines.get(i));
        }
        assertThat(story).as(at).isEqualTo(expected);
      }
      pauses += expected.pauses;
      reused += expected.reused;
      evicted += expected.pools.stream().mapToLong(Occupancy::evictedBlocks).sum();
    }
    assertThat(pauses).as("the workloads must pause").isPositive();
    assertThat(reused).as("the workloads must reuse").isGreaterThan(50L * SEEDS.length);
    assertThat(evicted).as("the workloads must evict").isGreaterThan(50L * SEEDS.length);
  }

  /** Both routers, both policies, pools that are full and pools that never are. */
  private static TestInstance.Setup setup(long seed) {
    int largest = Conversations.largestRequest(TOKENS_PER_BLOCK);
    boolean small = seed / 4 % 2 == 0;
    AdpRouterKind router = seed % 2 == 0 ? AdpRouterKind.KV_CACHE_AWARE : AdpRouterKind.DEFAULT;
    CapacityPolicy policy =
        seed / 2 % 2 == 0 ? CapacityPolicy.GUARANTEED_NO_EVICT : CapacityPolicy.MAX_UTILIZATION;
    BlockDemand demand =
        new BlockDemand(TOKENS_PER_BLOCK, policy == CapacityPolicy.GUARANTEED_NO_EVICT);
    return BlockReuseTest.stamping(RANKS, small ? largest + 2 : 300, TOKENS_PER_BLOCK)
        .hasher(NativeBlockHasher.of(HashFormat.KVASIR, TOKENS_PER_BLOCK))
        .router(router.create(RANKS, AttentionDpConfig.DEFAULT, demand, true))
        .options(
            ExecutorOptions.DEFAULT
                .withCapacityPolicy(policy)
                .withTokenBudget(24)
                .withMaxActiveRequests(6));
  }

  private static Story play(TestInstance instance, long seed) {
    new Conversations(seed, 48).cancelSome(new Random(seed)).run(instance);
    instance.assertNothingHeld();
    List<Occupancy> pools = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      if (instance.loop.isLive(rank)) {
        BlockPool pool = instance.pools.get(rank);
        pool.settle();
        pools.add(pool.occupancy());
      }
    }
    Recorder recorder = instance.recorder;
    return new Story(recorder.story, pools, recorder.pauses, recorder.cachedTokens);
  }
}
