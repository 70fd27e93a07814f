package io.kvasir.fleet.router.booking;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.cost.CostOptions;
import io.kvasir.fleet.router.cost.CostSelector;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/** A router with a clock, an index and prompts controlled by the test. Blocks have 4 tokens. */
public final class RouterFixture {

  public static final int TOKENS_PER_BLOCK = 4;

  final GivenIndex index = new GivenIndex();
  final AtomicLong clockNs = new AtomicLong();
  final BookingRouter router;

  RouterFixture(BookingOptions options) {
    this(new CostSelector(CostOptions.DEFAULT), options, new ReentrantLock());
  }

  RouterFixture(RankSelector selector, BookingOptions options, Lock lock) {
    router =
        new BookingRouter(
            "cost", index, selector, PlacementListener.NONE, options, setup(clockNs::get), lock);
  }

  public static FleetRouterSetup setup(LongSupplier clockNs) {
    return new FleetRouterSetup(HashFormat.KVASIR, TOKENS_PER_BLOCK, clockNs, Map.of());
  }

  /** Options of a router whose requests wait above a threshold. */
  public static BookingOptions queue(QueueOptions queue) {
    return BookingOptions.DEFAULT.withQueue(queue).withExplain(true);
  }

  /** Options of a router whose ranks may be overloaded. */
  public static BookingOptions busy(BusyThresholds thresholds) {
    return BookingOptions.DEFAULT.withBusyThresholds(thresholds).withExplain(true);
  }

  public static RankId rank(int worker) {
    return new RankId(worker, 0);
  }

  /** Adds ranks 0 to count - 1 of as many workers; each batches 100 tokens. */
  RouterFixture ranks(int count) {
    for (int worker = 0; worker < count; worker++) {
      router.addRank(rank(worker), new RankCapacity(1_000, 100));
    }
    return this;
  }

  /** A request whose full blocks no other request has. */
  public static FleetRequestBuilder request(long id, int inputTokens) {
    long[] hashes = new long[inputTokens / TOKENS_PER_BLOCK];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = id * 1_000_003 + i;
    }
    return request(id, inputTokens, hashes);
  }

  /** A request with given sequence hashes. */
  public static FleetRequestBuilder request(long id, int inputTokens, long... hashes) {
    return FleetRequest.builder(id, Prompt.of(new int[0]))
        .inputTokens(inputTokens)
        .hashes(HashFormat.KVASIR, TOKENS_PER_BLOCK, new BlockHashes(hashes, hashes));
  }

  public static long[] hashes(FleetRequest request) {
    return request.hashes(HashFormat.KVASIR, TOKENS_PER_BLOCK).sequence();
  }

  Placement placed(FleetRequestBuilder request) {
    return placement(router.route(request.build()));
  }

  public static Placement placement(RouteOutcome outcome) {
    assertThat(outcome).isInstanceOf(RouteOutcome.Placed.class);
    return ((RouteOutcome.Placed) outcome).placement();
  }

  Refusal refused(FleetRequestBuilder request) {
    return refusal(router.route(request.build()));
  }

  public static Refusal refusal(RouteOutcome outcome) {
    assertThat(outcome).isInstanceOf(RouteOutcome.Refused.class);
    return ((RouteOutcome.Refused) outcome).refusal();
  }

  PredictedLoads loads() {
    PredictedLoads loads = new PredictedLoads();
    router.loads(loads);
    return loads;
  }

  /** Asserts that no load is recorded and no request waits. */
  void isIdle() {
    PredictedLoads loads = loads();
    for (int i = 0; i < loads.size(); i++) {
      assertThat(loads.activeBlocks(i)).as("blocks of %s", loads.rank(i)).isZero();
      assertThat(loads.activePrefillTokens(i)).as("prefill of %s", loads.rank(i)).isZero();
      assertThat(loads.activeRequests(i)).as("requests of %s", loads.rank(i)).isZero();
    }
    assertThat(router.queueDepth()).isEqualTo(new QueueDepth(0, 0));
    assertThat(router.<Integer>withLoads(sequences -> sequences.stats().requests())).isZero();
  }
}
