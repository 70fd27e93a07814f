package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.NativePrefixMatcher;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.PrefixMatcher;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.testing.execute.CudaKvStampEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** A small instance: real pools, a listener that remembers, and a clock. */
final class TestInstance implements AutoCloseable {

  /** Every step takes a millisecond; every token is a 7. */
  static final StepEngine MILLISECOND_STEPS =
      plan -> {
        for (int i = 0; i < plan.size(); i++) {
          plan.produce(i, 7);
        }
        return 1_000_000;
      };

  final Recorder recorder = new Recorder();
  final List<BlockPool> pools = new ArrayList<>();
  final List<FaultyPool> faulty = new ArrayList<>();
  final List<RankExecutor> executors = new ArrayList<>();
  private final List<StepEngine> engines = new ArrayList<>();
  final BlockHasher hasher;
  PrefixMatcher matcher;
  WaitingQueue queue;
  AdpLoop loop;
  long nowNs;
  int iterations;

  private TestInstance(Setup setup) {
    this.hasher = setup.hasher;
  }

  private void assemble(Setup setup) {
    for (int rank = 0; rank < setup.ranks; rank++) {
      BlockPool pool = setup.pools.apply(setup.shape);
      pools.add(pool);
      FaultyPool seen = new FaultyPool(setup.wrapper.apply(pool));
      faulty.add(seen);
      StepEngine engine = setup.engines.apply(seen);
      engines.add(engine);
      executors.add(
          new RankExecutor(rank, seen, hasher, seen.engine(engine), setup.options, recorder));
    }
    queue = setup.policy.newQueue();
    matcher = setup.matcher.apply(pools);
    loop = new AdpLoop(null, executors, setup.router, matcher, queue, setup.balance, recorder);
  }

  HashedRequest hashed(Request request) {
    return new HashedRequest(request, hasher.hash(request.tokens(), request.scope()));
  }

  void submit(Request request) {
    loop.submit(hashed(request));
  }

  /** A request whose prompt is {@code first}, {@code first + 1} and so on. */
  static Request request(long id, int first, int promptTokens, int newTokens) {
    return requestBuilder(id, first, promptTokens, newTokens).build();
  }

  static Request.Builder requestBuilder(long id, int first, int promptTokens, int newTokens) {
    int[] tokens = new int[promptTokens];
    for (int i = 0; i < promptTokens; i++) {
      tokens[i] = first + i;
    }
    return Request.builder(id, tokens).maxNewTokens(newTokens);
  }

  /** One iteration; the events of it. */
  List<String> iterate() {
    recorder.take();
    nowNs += loop.iterate(nowNs);
    iterations++;
    return recorder.take();
  }

  void runUntilIdle() {
    while (!loop.idle()) {
      nowNs += loop.iterate(nowNs);
      iterations++;
      assertThat(iterations).as("iterations without end").isLessThan(1_000_000);
    }
  }

  /** Runs until nothing is computed and nothing is sent any more. */
  void runToEnd() {
    while (!loop.idle() || loop.nextWakeNs() != AdpLoop.NEVER) {
      long durationNs = loop.iterate(nowNs);
      nowNs = durationNs > 0 ? nowNs + durationNs : Math.max(nowNs, wakeNs());
      iterations++;
      assertThat(iterations).as("iterations without end").isLessThan(1_000_000);
    }
  }

  private long wakeNs() {
    return loop.nextWakeNs() == AdpLoop.NEVER ? 0 : loop.nextWakeNs();
  }

  Occupancy occupancy(int rank) {
    return pools.get(rank).occupancy();
  }

  Fault fault(int rank) {
    return faulty.get(rank).fault;
  }

  /** Everything has ended, nothing twice, and exactly those ranks are retired that were lost. */
  void assertEndedOnce() {
    assertThat(recorder.ended).doesNotHaveDuplicates();
    for (int rank = 0; rank < pools.size(); rank++) {
      assertThat(loop.isLive(rank)).as("rank " + rank).isEqualTo(!fault(rank).lost());
      fault(rank).disarm();
    }
    assertNothingHeld();
  }

  /** Nobody waits; on live ranks nobody holds or is promised anything; all ledgers say so too. */
  void assertNothingHeld() {
    assertThat(queue.isEmpty()).as("nobody waits").isTrue();
    for (int rank = 0; rank < pools.size(); rank++) {
      if (loop.isLive(rank)) {
        pools.get(rank).settle();
        assertThat(occupancy(rank).activeBlocks()).as("active blocks of rank " + rank).isZero();
        assertThat(occupancy(rank).reservedBlocks()).as("reserved blocks of rank " + rank).isZero();
      }
      for (LoadMetric metric : LoadMetric.values()) {
        RankState state = executors.get(rank).state(metric);
        assertThat(state.activeTokens()).isZero();
        assertThat(state.queuedBlocks()).as("queued blocks of rank " + rank).isZero();
        assertThat(state.liveRequests()).isZero();
      }
      assertThat(executors.get(rank).activeRequests()).isZero();
    }
  }

  @Override
  public void close() {
    if (matcher != null) {
      matcher.close();
    }
    for (StepEngine engine : engines) {
      if (engine instanceof CudaKvStampEngine onDevice) {
        onDevice.close();
      }
    }
    pools.forEach(BlockPool::close);
  }

  static Setup with(int ranks, int capacityBlocks, int tokensPerBlock) {
    return new Setup(ranks, capacityBlocks, tokensPerBlock);
  }

  /** What an instance is made of. */
  static final class Setup {
    private final int ranks;
    private PoolShape shape;
    private ExecutorOptions options = ExecutorOptions.DEFAULT;
    private BlockHasher hasher;
    private AdpRouter router = new SpreadRouter(0);
    private WaitingQueuePolicy policy = WaitingQueuePolicy.FCFS;
    private AdpBalance balance;
    private Function<BlockPool, StepEngine> engines = pool -> MILLISECOND_STEPS;
    private UnaryOperator<BlockPool> wrapper = pool -> pool;
    private Function<PoolShape, BlockPool> pools = NativeBlockPool::create;
    private Function<List<BlockPool>, PrefixMatcher> matcher =
        made -> new NativePrefixMatcher(made.stream().map(NativeBlockPool.class::cast).toList());

    private Setup(int ranks, int capacityBlocks, int tokensPerBlock) {
      this.ranks = ranks;
      this.shape = new PoolShape(capacityBlocks, tokensPerBlock, 256, capacityBlocks, 0);
      this.hasher = new ChainHasher(tokensPerBlock);
    }

    Setup options(ExecutorOptions value) {
      options = value;
      return this;
    }

    Setup maxBlocksPerLease(int value) {
      shape = new PoolShape(shape.capacityBlocks(), shape.tokensPerBlock(), 256, value, 0);
      return this;
    }

    Setup hasher(BlockHasher value) {
      hasher = value;
      return this;
    }

    Setup router(AdpRouter value) {
      router = value;
      return this;
    }

    Setup queue(WaitingQueuePolicy value) {
      policy = value;
      return this;
    }

    Setup balance(AdpBalance value) {
      balance = value;
      return this;
    }

    Setup engines(Function<BlockPool, StepEngine> value) {
      engines = value;
      return this;
    }

    Setup wrapper(UnaryOperator<BlockPool> value) {
      wrapper = value;
      return this;
    }

    Setup pools(
        Function<PoolShape, BlockPool> made, Function<List<BlockPool>, PrefixMatcher> matched) {
      pools = made;
      matcher = matched;
      return this;
    }

    @Override
    public String toString() {
      return ranks + " ranks, " + shape + ", " + options + ", " + policy;
    }

    TestInstance build() {
      TestInstance instance = new TestInstance(this);
      try {
        instance.assemble(this);
        return instance;
      } catch (RuntimeException e) {
        instance.close();
        throw e;
      }
    }
  }
}
