package io.kvasir.simulator.selection;

import io.kvasir.event.CacheChange;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.rank.ActiveSequencesOptions;
import io.kvasir.select.BusyThresholds;
import io.kvasir.select.CostOptions;
import io.kvasir.select.CostSelector;
import io.kvasir.select.Decision;
import io.kvasir.select.KvScheduler;
import io.kvasir.select.KvSchedulerOptions;
import io.kvasir.select.QueueOptions;
import io.kvasir.select.RankCapacity;
import io.kvasir.select.SelectionOutcome;
import io.kvasir.select.SelectionRequest;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.List;

/**
 * The product's own scheduler: block events against the load that it predicts from what it placed
 * and what streamed out. Output blocks count. Not thread-safe.
 */
final class ScheduledSelector implements InstanceSelector {

  private final InstanceIndex index;
  private final KvScheduler scheduler;
  private final Long2LongOpenHashMap attempts = new Long2LongOpenHashMap();
  private long nowNs;

  ScheduledSelector(int instances, int tokensPerBlock, InstanceIndex index, CostOptions cost) {
    this.index = index;
    this.scheduler =
        new KvScheduler(
            index.index(),
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
    Decision decision = dispatched.decision();
    attempts.put(request.id(), decision.attempt());
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
  public void onChanges(int instance, List<CacheChange> changes, long atNs) {
    index.apply(instance, changes);
  }

  @Override
  public void close() {
    index.close();
  }
}
