package io.kvasir.simulator.replay;

import io.kvasir.engine.pool.PoolShape;
import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.trtllm.CacheEvent;
import io.kvasir.hash.TrtllmHash;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayList;
import java.util.List;

/**
 * What an instance tells of the blocks of its ranks: a block is stored when the first rank comes to
 * hold it, and removed when the last one does no more. Serve routers know of no ranks.
 *
 * <p>Not thread-safe. O(1) an event, but for a rank that loses everything.
 */
final class WorkerBlocks implements BlockSink {

  private final List<LongOpenHashSet> held = new ArrayList<>();
  private final long[] nextSequence;
  private final Long2IntOpenHashMap holders = new Long2IntOpenHashMap();
  private final LongArrayList run = new LongArrayList();
  private boolean runStores;
  private List<CacheEvent> events = new ArrayList<>();

  WorkerBlocks(int ranks) {
    this.nextSequence = new long[ranks];
    for (int rank = 0; rank < ranks; rank++) {
      held.add(new LongOpenHashSet());
    }
  }

  /**
   * Events that a pool must keep for an iteration: at its start no block is evicted twice, and none
   * is named before its end.
   */
  static int events(PoolShape pool) {
    return (int) Math.min(Integer.MAX_VALUE, 2L * pool.capacityBlocks());
  }

  @Override
  public void on(int rank, BlockEvent event) {
    if (event.sequence() != nextSequence[rank]++) {
      throw new IllegalStateException(
          "events of rank " + rank + " are lost before number " + event.sequence());
    }
    if (event instanceof BlockEvent.Stored stored) {
      store(rank, stored.blockHash());
    } else if (event instanceof BlockEvent.Removed removed) {
      if (held.get(rank).remove(removed.blockHash())) {
        release(removed.blockHash());
      }
    } else {
      clear(rank);
    }
  }

  @Override
  public void clear(int rank) {
    held.get(rank).forEach(this::release);
    held.get(rank).clear();
  }

  /** What happened since the last call, in its order. */
  List<CacheEvent> take() {
    endRun();
    List<CacheEvent> taken = events;
    events = new ArrayList<>();
    return taken;
  }

  private void store(int rank, long block) {
    if (held.get(rank).add(block) && holders.addTo(block, 1) == 0) {
      tell(true, block);
    }
  }

  private void release(long block) {
    if (holders.addTo(block, -1) == 1) {
      holders.remove(block);
      tell(false, block);
    }
  }

  private void tell(boolean stores, long block) {
    if (stores != runStores) {
      endRun();
      runStores = stores;
    }
    run.add(block);
  }

  private void endRun() {
    if (!run.isEmpty()) {
      long[] keys = run.toLongArray();
      run.clear();
      events.add(
          runStores
              ? new CacheEvent.Stored(TrtllmHash.V1_BLOCK_KEY, keys)
              : new CacheEvent.Removed(TrtllmHash.V1_BLOCK_KEY, keys));
    }
  }
}
