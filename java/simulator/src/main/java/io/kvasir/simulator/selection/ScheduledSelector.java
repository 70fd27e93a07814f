package io.kvasir.simulator.selection;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ApproximateIndex;
import io.kvasir.fleet.index.ApproximateOptions;
import io.kvasir.fleet.index.PredictingIndex;
import io.kvasir.fleet.load.ActiveSequencesOptions;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.cost.BusyThresholds;
import io.kvasir.fleet.router.cost.CostDecision;
import io.kvasir.fleet.router.cost.CostOptions;
import io.kvasir.fleet.router.cost.CostSelector;
import io.kvasir.fleet.router.cost.KvScheduler;
import io.kvasir.fleet.router.cost.KvSchedulerOptions;
import io.kvasir.fleet.router.cost.QueueOptions;
import io.kvasir.fleet.router.cost.SelectionOutcome;
import io.kvasir.fleet.router.cost.SelectionRequest;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.List;

/**
 * The product's own scheduler: what caches hold, by what was told and what is believed of them,
 * against the load that it predicts from what it placed and what streamed out, output blocks
 * included. Not thread-safe. Owns native memory.
 */
final class ScheduledSelector implements InstanceSelector {

  private final PredictingIndex index;
  private final boolean believes;
  private final KvScheduler scheduler;
  private final Long2LongOpenHashMap attempts = new Long2LongOpenHashMap();
  private long nowNs;

  /**
   * Knows nothing yet.
   *
   * @param ttlMs how long to believe that an instance holds what was placed on it; 0 for not at all
   */
  ScheduledSelector(
      int instances, HashFormat format, int tokensPerBlock, long ttlMs, CostOptions cost) {
    this.believes = ttlMs > 0;
    this.index =
        new PredictingIndex(
            InstanceIndex.empty(format, tokensPerBlock),
            new ApproximateIndex(
                InstanceIndex.empty(format, tokensPerBlock),
                ApproximateOptions.DEFAULT.withTtlMs(Math.max(1, ttlMs)),
                () -> nowNs));
    this.scheduler =
        new KvScheduler(
            index,
            tokensPerBlock,
            new CostSelector(cost),
            new KvSchedulerOptions(
                ActiveSequencesOptions.DEFAULT.withOutputBlocks(true),
                BusyThresholds.NONE,
                QueueOptions.OFF,
                false),
            hitRate -> {},
            () -> nowNs);
    for (int i = 0; i < instances; i++) {
      scheduler.setRank(InstanceIndex.rank(i), RankCapacity.UNKNOWN);
    }
  }

  @Override
  public int select(HashedRequest hashed, long atNs) {
    nowNs = atNs;
    Request request = hashed.request();
    SelectionRequest asked =
        SelectionRequest.builder(request.id(), request.promptTokens())
            .blocks(hashed.hashes().sequence(), hashed.hashes().blocks())
            .build();
    SelectionOutcome outcome = scheduler.submit(asked).join();
    if (!(outcome instanceof SelectionOutcome.Dispatched dispatched)) {
      throw new IllegalStateException("nobody may refuse here: " + outcome);
    }
    CostDecision decision = dispatched.decision();
    attempts.put(request.id(), decision.attempt());
    if (believes) {
      index.place(decision.rank(), hashed.hashes());
    }
    return (int) decision.rank().workerId();
  }

  @Override
  public void onToken(Request request, long atNs) {
    nowNs = atNs;
    scheduler.push(attempts.get(request.id()), 1);
  }

  @Override
  public void onEnded(Request request, long atNs) {
    nowNs = atNs;
    scheduler.free(attempts.remove(request.id()));
  }

  @Override
  public void onEvents(int instance, List<BlockEvent> events, long atNs) {
    events.forEach(event -> index.apply(InstanceIndex.rank(instance), event));
  }

  @Override
  public void close() {
    index.close();
  }
}
