package io.kvasir.simulator.selection;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.cost.CostPick;
import io.kvasir.hash.HashedRequest;
import java.util.List;

/**
 * Weighs caches, known by block events, against loads, known by polled metrics. With the shares
 *
 * <pre>
 * overlap = overlap blocks x tokensPerBlock / prompt tokens
 * active  = active blocks / total blocks
 * waiting = waiting requests / the most that wait at any instance, 0 if nobody waits
 * </pre>
 *
 * the highest {@code 2 x overlap - active - waiting} wins, one of equals by chance. That is the
 * cost function of Dynamo's KV router before its pull request 1731, which predicts loads instead;
 * like that one it counts what it has placed until the next answer to a poll comes.
 *
 * <p>Not thread-safe.
 */
final class PolledSelector implements InstanceSelector {

  private static final double OVERLAP_WEIGHT = 2;

  private final int instances;
  private final int tokensPerBlock;
  private final PrefixIndex index;
  private final RankMatches matches = new RankMatches();
  private final PolledLoads loads;

  PolledSelector(int instances, int tokensPerBlock, PrefixIndex index, PolledLoads loads) {
    this.instances = instances;
    this.tokensPerBlock = tokensPerBlock;
    this.index = index;
    this.loads = loads;
  }

  @Override
  public int select(HashedRequest request, long nowNs) {
    loads.update(nowNs);
    index.match(request.hashes().sequence(), request.hashes().blocks(), matches);
    int promptTokens = request.request().promptTokens();
    int mostWaiting = 0;
    for (int i = 0; i < instances; i++) {
      mostWaiting = Math.max(mostWaiting, loads.load(i).waitingRequests());
    }
    CostPick pick = new CostPick(instances, request.request().id());
    for (int i = 0; i < instances; i++) {
      int overlapTokens = matches.blocks(InstanceIndex.rank(i)) * tokensPerBlock;
      InstanceLoad load = loads.load(i);
      double overlap = (double) overlapTokens / promptTokens;
      double active = share(load.activeBlocks(), load.totalBlocks());
      double waiting = share(load.waitingRequests(), mostWaiting);
      pick.add(-(OVERLAP_WEIGHT * overlap - active - waiting));
    }
    int chosen = pick.lowest();
    int promptBlocks = (promptTokens + tokensPerBlock - 1) / tokensPerBlock;
    loads.place(chosen, promptBlocks - matches.blocks(InstanceIndex.rank(chosen)));
    return chosen;
  }

  private static double share(long part, long whole) {
    return whole == 0 ? 0 : (double) part / whole;
  }

  @Override
  public void onEvents(int instance, List<BlockEvent> events, long nowNs) {
    events.forEach(event -> index.apply(InstanceIndex.rank(instance), event));
  }

  @Override
  public void onLoad(int instance, InstanceLoad load, long nowNs) {
    loads.publish(instance, load, nowNs);
  }

  @Override
  public void close() {
    index.close();
  }
}
