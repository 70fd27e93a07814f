package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.BlockReuseTest.LAYERS;
import static io.kvasir.engine.execute.BlockReuseTest.VOCABULARY;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.device.DeviceHealth;
import io.kvasir.engine.device.ShimCall;
import io.kvasir.engine.device.ShimDevice;
import io.kvasir.engine.device.SickNvml;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.engine.pool.cuda.CudaPrefixMatcher;
import io.kvasir.testing.execute.CudaKvStampEngine;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Workers on two devices, where one device fails in the middle of their work. */
class DeviceLossTest {

  private static final int SEEDS = LongRuns.cases(8, 32);
  private static final long BYTES = 1 << 28;
  private static final int ILLEGAL_ADDRESS = 700;
  private static final List<ShimCall> CALLS =
      List.of(
          ShimCall.LAUNCH,
          ShimCall.LAUNCH,
          ShimCall.COPY,
          ShimCall.SYNCHRONIZE,
          ShimCall.RECORD,
          ShimCall.AWAIT);

  /** Ranks 0 and 1 on the first device, rank 2 on the second. */
  private static TestInstance.Setup on(
      ShimDevice first, ShimDevice second, TestInstance.Setup setup) {
    int[] made = new int[1];
    return setup
        .pools(
            shape ->
                CudaBlockPool.create(
                    made[0]++ < 2 ? first : second,
                    shape,
                    CudaKvStampEngine.kvBytesPerBlock(shape.tokensPerBlock(), LAYERS)),
            pools -> new CudaPrefixMatcher(pools.stream().map(CudaBlockPool.class::cast).toList()))
        .engines(
            pool ->
                new CudaKvStampEngine(
                    pool,
                    ((CudaBlockPool) PoolCalls.unwrapped(pool)).deviceBlocks(),
                    LAYERS,
                    VOCABULARY));
  }

  @Test
  void ranksOfADeviceThatDiesAreRetiredAndEveryRequestEndsOnceWithItsOwnOutput() {
    int losses = 0;
    int returned = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      Map<Long, int[]> expected = BlockReuseTest.outputsWithoutReuse(seed);
      Random random = new Random(seed);
      Conversations conversations = new Conversations(seed, BlockReuseTest.CONVERSATIONS);
      TestInstance.Setup setup = BlockReuseTest.randomSetup(random, 3);
      boolean firstDies = random.nextBoolean();
      ShimCall call = CALLS.get(random.nextInt(CALLS.size()));
      String at = "seed " + seed + ": " + setup + ", " + call;
      try (ShimDevice first = ShimDevice.of(BYTES, seed);
          ShimDevice second = ShimDevice.of(BYTES, seed + 1);
          TestInstance instance = on(first, second, setup).build()) {
        ShimDevice dying = firstDies ? first : second;
        int nth = 1 + random.nextInt(call == ShimCall.LAUNCH ? 900 : 150);
        int callsBefore = dying.count(call);
        dying.failAt(call, nth, ILLEGAL_ADDRESS);
        Map<Long, int[]> outputs = conversations.run(instance);
        outputs.forEach(
            (id, output) ->
                assertThat(output).as(at + ", request " + id).isEqualTo(expected.get(id)));
        assertThat(outputs.keySet()).as(at).isEqualTo(conversations.submittedIds());
        assertThat(instance.recorder.ended).as(at).doesNotHaveDuplicates();
        Set<Integer> doomed =
            dying.count(call) - callsBefore < nth ? Set.of() : firstDies ? Set.of(0, 1) : Set.of(2);
        assertThat(doomed).as(at).containsAll(instance.recorder.retired.keySet());
        Set<Integer> lost = new HashSet<>();
        for (int rank = 0; rank < 3; rank++) {
          if (!instance.loop.isLive(rank)) {
            lost.add(rank);
          }
        }
        assertThat(lost).as(at).isEqualTo(instance.recorder.retired.keySet());
        instance.assertNothingHeld();
        losses += lost.size();
        returned += instance.recorder.returned.size();
      } catch (RuntimeException e) {
        throw new AssertionError(at, e);
      }
    }
    assertThat(losses).as("ranks must be lost").isGreaterThan(SEEDS / 3);
    assertThat(returned).as("requests must be returned").isGreaterThan(SEEDS / 3);
  }

  @Test
  void ranksOfADeviceThatFallsIllAreRetiredBeforeTheNextIteration() {
    PoolShape shape = new PoolShape(50, 4, 256, 50, 0);
    SickNvml nvml = new SickNvml();
    try (ShimDevice first = ShimDevice.of(BYTES, 1, 0);
        ShimDevice second = ShimDevice.of(BYTES, 1, 1);
        DeviceHealth health = nvml.watch(List.of(first.device(), second.device()));
        RankPools pools =
            RankPools.onDevices(List.of(first, second), 3, shape, KvShape.NONE, health)) {
      Recorder recorder = new Recorder();
      AdpLoop loop = loop(pools, recorder);
      RankHealth watch = new RankHealth(loop, pools, 0);
      nvml.tell(first.device(), 79);
      watch.check();
      loop.iterate(0);
      assertThat(recorder.retired).as("before the first poll").isEmpty();
      SickNvml.poll(health);
      watch.check();
      loop.iterate(0);
      assertThat(recorder.retired)
          .isEqualTo(Map.of(0, "the driver reports XID 79", 1, "the driver reports XID 79"));
      watch.check();
      nvml.tell(second.device(), 48);
      SickNvml.poll(health);
      watch.check();
      loop.iterate(0);
      assertThat(recorder.retired).containsEntry(2, "the driver reports XID 48").hasSize(3);
    }
  }

  @Test
  void poolsOnTheHostHaveNoProblems() {
    try (RankPools pools = RankPools.onHost(2, new PoolShape(50, 4, 256, 50, 0))) {
      assertThat(pools.problems()).isZero();
      assertThat(pools.problem(1)).isEmpty();
    }
  }

  private static AdpLoop loop(RankPools pools, Recorder recorder) {
    ChainHasher hasher = new ChainHasher(4);
    List<RankExecutor> executors = new ArrayList<>();
    for (BlockPool pool : pools.pools()) {
      executors.add(
          new RankExecutor(
              executors.size(),
              pool,
              hasher,
              TestInstance.MILLISECOND_STEPS,
              ExecutorOptions.DEFAULT,
              recorder));
    }
    WaitingQueue queue = WaitingQueuePolicy.FCFS.newQueue();
    return new AdpLoop(executors, new SpreadRouter(0), pools.matcher(), queue, recorder);
  }
}
