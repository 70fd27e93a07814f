package io.kvasir.fleet.router.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** A scheduler with a clock, an index and prompts that a test says. Blocks have 4 tokens. */
final class SchedulerFixture {

  static final int TOKENS_PER_BLOCK = 4;

  final GivenIndex index = new GivenIndex();
  final AtomicLong clockNs = new AtomicLong();
  final List<HitRateEvent> hitRates = Collections.synchronizedList(new ArrayList<>());
  final KvScheduler scheduler;

  SchedulerFixture(KvSchedulerOptions options) {
    this(new CostSelector(CostOptions.DEFAULT), options, new ReentrantLock());
  }

  SchedulerFixture(WorkerSelector selector, KvSchedulerOptions options, Lock lock) {
    scheduler =
        new KvScheduler(
            index, TOKENS_PER_BLOCK, selector, options, hitRates::add, clockNs::get, lock);
  }

  /** Options of a scheduler whose requests wait above a threshold. */
  static KvSchedulerOptions queue(QueueOptions queue) {
    return KvSchedulerOptions.DEFAULT.withQueue(queue).withExplain(true);
  }

  /** Options of a scheduler whose ranks may be overloaded. */
  static KvSchedulerOptions busy(BusyThresholds thresholds) {
    return KvSchedulerOptions.DEFAULT.withBusyThresholds(thresholds).withExplain(true);
  }

  static RankId rank(int worker) {
    return new RankId(worker, 0);
  }

  /** Adds ranks 0 to count - 1 of as many workers; each batches 100 tokens. */
  SchedulerFixture ranks(int count) {
    for (int worker = 0; worker < count; worker++) {
      scheduler.setRank(rank(worker), new RankCapacity(1_000, 100));
    }
    return this;
  }

  /** A request whose full blocks nobody else has. */
  static SelectionRequest.Builder request(long id, int inputTokens) {
    int blocks = inputTokens / TOKENS_PER_BLOCK;
    long[] hashes = new long[blocks];
    for (int i = 0; i < blocks; i++) {
      hashes[i] = id * 1_000_003 + i;
    }
    return SelectionRequest.builder(id, inputTokens).blocks(hashes, blocks);
  }

  /** Submits a request that does not wait. */
  SelectionOutcome outcome(SelectionRequest.Builder request) {
    CompletableFuture<SelectionOutcome> future = scheduler.submit(request.build());
    assertThat(future).isCompleted();
    return future.join();
  }

  CostDecision dispatched(SelectionRequest.Builder request) {
    return decision(outcome(request));
  }

  static CostDecision decision(SelectionOutcome outcome) {
    assertThat(outcome).isInstanceOf(SelectionOutcome.Dispatched.class);
    return ((SelectionOutcome.Dispatched) outcome).decision();
  }

  Refusal refused(SelectionRequest.Builder request) {
    return refusal(outcome(request));
  }

  static Refusal refusal(SelectionOutcome outcome) {
    assertThat(outcome).isInstanceOf(SelectionOutcome.Refused.class);
    return ((SelectionOutcome.Refused) outcome).reason();
  }

  PredictedLoads loads() {
    PredictedLoads loads = new PredictedLoads();
    scheduler.loads(loads);
    return loads;
  }

  /** Asserts that nothing is booked anywhere and nobody waits. */
  void isIdle() {
    PredictedLoads loads = loads();
    for (int i = 0; i < loads.size(); i++) {
      assertThat(loads.activeBlocks(i)).as("blocks of %s", loads.rank(i)).isZero();
      assertThat(loads.activePrefillTokens(i)).as("prefill of %s", loads.rank(i)).isZero();
      assertThat(loads.activeRequests(i)).as("requests of %s", loads.rank(i)).isZero();
    }
    assertThat(scheduler.queueDepth()).isEqualTo(new QueueDepth(0, 0));
    assertThat(scheduler.<Integer>withLoads(sequences -> sequences.stats().requests())).isZero();
  }
}
