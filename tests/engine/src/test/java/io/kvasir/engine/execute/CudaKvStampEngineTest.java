package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.BlockReuseTest.CONVERSATIONS;
import static io.kvasir.engine.execute.BlockReuseTest.LAYERS;
import static io.kvasir.engine.execute.BlockReuseTest.VOCABULARY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.RetryableDeviceException;
import io.kvasir.engine.device.ShimCall;
import io.kvasir.engine.device.ShimDevice;
import io.kvasir.engine.device.TestDevices;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.cuda.CudaBlockPool;
import io.kvasir.engine.pool.cuda.CudaPrefixMatcher;
import io.kvasir.engine.pool.cuda.DeviceBlocks;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.testing.execute.CudaKvStampEngine;
import io.kvasir.testing.harness.LongRuns;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A device computes what the host computes, token for token, whatever is reused or paused. */
@Tag("device")
@Tag("engine")
class CudaKvStampEngineTest {

  private static final PoolShape SHAPE = new PoolShape(100, 4, 256, 100, 0);
  private static final long SHIM_BYTES = 1 << 30;
  private static final int OUT_OF_MEMORY = 2;
  private static final int ILLEGAL_ADDRESS = 700;
  private static final int SEEDS = LongRuns.cases(4, 24);

  @Test
  void outputsEqualTheHosts() {
    long reused = 0;
    int pauses = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      Map<Long, int[]> expected = BlockReuseTest.outputsWithoutReuse(seed);
      Random random = new Random(seed);
      Conversations conversations = new Conversations(seed, CONVERSATIONS).cancelSome(random);
      TestInstance.Setup setup = BlockReuseTest.randomSetup(random);
      String at = "seed " + seed + ": " + setup;
      try (DeviceApi device = TestDevices.open(seed);
          TestInstance instance = on(device, setup, LAYERS).build()) {
        conversations
            .run(instance)
            .forEach(
                (id, output) ->
                    assertThat(output).as(at + ", request " + id).isEqualTo(expected.get(id)));
        instance.assertNothingHeld();
        reused += instance.recorder.cachedTokens;
        pauses += instance.recorder.pauses;
      } catch (RuntimeException e) {
        throw new AssertionError(at, e);
      }
    }
    assertThat(reused).as("the workloads must reuse").isGreaterThan(5L * SEEDS);
    assertThat(pauses).as("the workloads must pause").isPositive();
  }

  @Test
  void overwrittenKvChangesOutputs() {
    Map<Long, int[]> outputs;
    try (DeviceApi device = TestDevices.open();
        TestInstance instance = on(device, BlockReuseTest.stamping(1, 100, 4), 40).build()) {
      DeviceBlocks blocks = ((CudaBlockPool) instance.pools.get(0)).deviceBlocks();
      for (long id = 0; id < 3; id++) {
        instance.submit(TestInstance.request(id, 0, 40, 4));
        instance.runUntilIdle();
        if (id == 1) {
          device.fill(blocks.stream(), blocks.kv(), (byte) 1, 100 * blocks.kvBytesPerBlock());
        }
      }
      outputs = instance.recorder.finished;
      assertThat(instance.recorder.cachedTokens).isPositive();
    }
    assertThat(outputs.get(1L)).isEqualTo(outputs.get(0L));
    assertThat(outputs.get(2L)).isNotEqualTo(outputs.get(0L));
  }

  @Test
  void aStepIsOneLaunchAndOneSynchronisation() {
    int steps = 0;
    try (ShimDevice device = ShimDevice.of(SHIM_BYTES, 1);
        CudaBlockPool pool = pool(device, SHAPE, LAYERS);
        CudaKvStampEngine engine = engine(pool, LAYERS)) {
      StepEngine counted =
          plan -> {
            pool.settle();
            int launches = device.count(ShimCall.LAUNCH);
            int waits = device.count(ShimCall.SYNCHRONIZE);
            long durationNs = engine.step(plan);
            assertThat(device.count(ShimCall.LAUNCH)).isEqualTo(launches + 1);
            assertThat(device.count(ShimCall.SYNCHRONIZE)).isEqualTo(waits + 1);
            return durationNs;
          };
      RankExecutor executor = executor(pool, counted);
      for (; executor.hasWork(); steps++) {
        executor.beginStep(0);
        executor.endStep(0);
      }
    }
    assertThat(steps).isEqualTo(4);
  }

  @Test
  void aLostDeviceIsToldAndClosesQuietly() {
    try (ShimDevice device = ShimDevice.of(SHIM_BYTES);
        CudaBlockPool pool = pool(device, SHAPE, LAYERS);
        CudaKvStampEngine engine = engine(pool, LAYERS)) {
      StepEngine losing =
          plan -> {
            pool.settle();
            device.failAt(ShimCall.SYNCHRONIZE, 1, ILLEGAL_ADDRESS);
            return engine.step(plan);
          };
      RankExecutor executor = executor(pool, losing);
      assertThatThrownBy(() -> executor.beginStep(0)).isInstanceOf(FatalDeviceException.class);
    }
  }

  @Test
  void anEngineIsClosedDuringAStepWhoseWaitWasRefused() {
    for (long seed = 0; seed < 20; seed++) {
      try (ShimDevice device = ShimDevice.of(SHIM_BYTES, seed);
          CudaBlockPool pool = pool(device, SHAPE, LAYERS);
          CudaKvStampEngine engine = engine(pool, LAYERS)) {
        StepEngine refused =
            plan -> {
              pool.settle();
              device.failAt(ShimCall.SYNCHRONIZE, 1, OUT_OF_MEMORY);
              return engine.step(plan);
            };
        RankExecutor executor = executor(pool, refused);
        assertThatThrownBy(() -> executor.beginStep(0))
            .isInstanceOf(RetryableDeviceException.class);
      }
    }
  }

  @Test
  void refusesMemoryThatIsTooSmall() {
    try (DeviceApi device = TestDevices.open();
        CudaBlockPool pool = pool(device, SHAPE, LAYERS)) {
      assertThatThrownBy(() -> engine(pool, LAYERS + 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("kvBytesPerBlock must be 96 at least, not 64");
      assertThatThrownBy(() -> engine(pool, 0)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** With one request, of 10 prompt tokens and 4 new ones. */
  private static RankExecutor executor(BlockPool pool, StepEngine engine) {
    ChainHasher hasher = new ChainHasher(SHAPE.tokensPerBlock());
    RankExecutor executor =
        new RankExecutor(0, pool, hasher, engine, ExecutorOptions.DEFAULT, new Recorder());
    Request request = TestInstance.request(1, 0, 10, 4);
    executor.submit(new HashedRequest(request, hasher.hash(request.tokens(), request.scope())), 0);
    return executor;
  }

  private static TestInstance.Setup on(DeviceApi device, TestInstance.Setup setup, int layers) {
    AtomicReference<CudaBlockPool> made = new AtomicReference<>();
    return setup
        .pools(
            shape -> {
              made.set(pool(device, shape, layers));
              return made.get();
            },
            pools -> new CudaPrefixMatcher(pools.stream().map(CudaBlockPool.class::cast).toList()))
        .engines(
            pool -> new CudaKvStampEngine(pool, made.get().deviceBlocks(), layers, VOCABULARY));
  }

  private static CudaBlockPool pool(DeviceApi device, PoolShape shape, int layers) {
    return CudaBlockPool.create(
        device, shape, CudaKvStampEngine.kvBytesPerBlock(shape.tokensPerBlock(), layers));
  }

  private static CudaKvStampEngine engine(CudaBlockPool pool, int layers) {
    return new CudaKvStampEngine(pool, pool.deviceBlocks(), layers, VOCABULARY);
  }
}
